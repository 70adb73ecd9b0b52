package config

import (
	"os"

	"precis"
	"precis/models"
)

// Catalog returns the models that are known: those built in, and over them those
// of models_file.
func (c *Config) Catalog() (*models.Catalog, error) {
	var o models.Options
	if path := c.ModelsFile; path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read models", Place: path, Err: err}
		}
		if o.Overrides, err = models.ParseOverrides(data, path); err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, "read models", "%w", err)
		}
	}
	catalog, err := models.New(o)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "read models", "%w", err)
	}
	return catalog, nil
}
