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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/store"
)

// replicaSettingsRow is the key of the values that replicas over a shared store must have in common.
const replicaSettingsRow = `["agreed"]`

// replicaSettings holds values that replicas over one store must have in common. They reveal no secret.
type replicaSettings struct {
	Secret string `json:"secret"` // an HMAC keyed with it
	Window string `json:"window"`
	Preset string `json:"preset"`
	Prices string `json:"prices"` // a hash of the file of models and prices
}

// agreedOf returns the values of this replica.
func agreedOf(c *config.Config, secret []byte) replicaSettings {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("precis: check of the secret that replicas share"))
	a := replicaSettings{Secret: hex.EncodeToString(m.Sum(nil)[:16]), Window: strconv.Itoa(c.Window),
		Preset: c.Settings.Preset}
	if data, err := os.ReadFile(c.ModelsFile); c.ModelsFile != "" && err == nil {
		// a read error was reported already
		sum := sha256.Sum256(data)
		a.Prices = hex.EncodeToString(sum[:8])
	}
	return a
}

// checkReplicas compares a replica with the earlier ones on the store. A different secret is an error,
// because owners and conversations would get other names and the replicas would share no data.
// Other differences are logged as warnings, and the new values replace the stored ones.
func checkReplicas(ctx context.Context, st precis.Store, mine replicaSettings, log *slog.Logger) error {
	rows, ok := st.(store.Windows)
	if !ok {
		return nil
	}
	all, err := rows.LoadWindows(ctx)
	if err != nil {
		return err
	}
	var theirs replicaSettings
	known := json.Unmarshal(all[replicaSettingsRow], &theirs) == nil && theirs.Secret != ""
	if known && theirs.Secret != mine.Secret {
		return &precis.Error{
			Code: precis.CodeConflict, Op: "open store",
			Err:  errors.New("other replicas use this store with another secret: the conversations of each would be strangers to the other"),
			Hint: "give all replicas the same gateway.secret_file; if the old secret is lost, run precis store forget-secret, and conversations of clients without gateway keys begin anew",
		}
	}
	if known {
		for _, s := range []struct{ name, theirs, mine string }{{"window", theirs.Window, mine.Window},
			{"preset", theirs.Preset, mine.Preset}, {"models_file", theirs.Prices, mine.Prices}} {
			if s.theirs != s.mine {
				log.WarnContext(ctx, "replicas that share a store differ in a setting that must be equal",
					"setting", s.name, "here", s.mine, "there", s.theirs)
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
	return rows.SaveWindows(ctx, map[string][]byte{replicaSettingsRow: state})
}

// ForgetSecret makes a store forget the secret of its replicas.
func ForgetSecret(ctx context.Context, st precis.Store) error {
	if rows, ok := st.(store.Windows); ok {
		return rows.SaveWindows(ctx, map[string][]byte{replicaSettingsRow: nil})
	}
	return nil
}
