package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strconv"

	"precis"
	"precis/cmd/internal/config"
	"precis/store"
)

// agreedRow is where a store that replicas share keeps what they must have in common.
const agreedRow = `["agreed"]`

// agreed is what replicas over one store must have in common. None of it tells a secret.
type agreed struct {
	Secret string `json:"secret"` // an HMAC under it
	Window string `json:"window"`
	Preset string `json:"preset"`
	Prices string `json:"prices"` // a hash of the file of models and prices
}

// agreedOf returns what a replica brings along.
func agreedOf(c *config.Config, secret []byte) agreed {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("precis: check of the secret that replicas share"))
	a := agreed{Secret: hex.EncodeToString(m.Sum(nil)[:16]), Window: strconv.Itoa(c.Window), Preset: c.Settings.Preset}
	if data, err := os.ReadFile(c.ModelsFile); c.ModelsFile != "" && err == nil { // else it was refused already
		sum := sha256.Sum256(data)
		a.Prices = hex.EncodeToString(sum[:8])
	}
	return a
}

// agree compares a replica with those that used the store before. Another secret is an error:
// owners and conversations would have other names, and the replicas share nothing. Other
// settings are warned of by name, and are the ones that later replicas are compared with.
func agree(ctx context.Context, st precis.Store, mine agreed, log *slog.Logger) error {
	rows, ok := st.(store.Windows)
	if !ok {
		return nil
	}
	all, err := rows.LoadWindows(ctx)
	if err != nil {
		return err
	}
	var theirs agreed
	known := json.Unmarshal(all[agreedRow], &theirs) == nil && theirs.Secret != ""
	if known && theirs.Secret != mine.Secret {
		return &precis.Error{
			Code: precis.CodeConflict, Op: "open store",
			Err:  errors.New("other replicas use this store with another secret: the conversations of each would be strangers to the other"),
			Hint: "give all replicas the same gateway.secret_file; if the old secret is lost, run precis store forget-secret, and conversations of clients without gateway keys begin anew",
		}
	}
	if known {
		for _, s := range []struct{ name, theirs, mine string }{{"window", theirs.Window, mine.Window}, {"preset", theirs.Preset, mine.Preset}, {"models_file", theirs.Prices, mine.Prices}} {
			if s.theirs != s.mine {
				log.WarnContext(ctx, "replicas that share a store differ in a setting that must be equal", "setting", s.name, "here", s.mine, "there", s.theirs)
			}
		}
	}
	if theirs == mine {
		return nil
	}
	state, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	return rows.SaveWindows(ctx, map[string][]byte{agreedRow: state})
}

// ForgetSecret makes a store forget which secret its replicas have.
func ForgetSecret(ctx context.Context, st precis.Store) error {
	if rows, ok := st.(store.Windows); ok {
		return rows.SaveWindows(ctx, map[string][]byte{agreedRow: nil})
	}
	return nil
}
