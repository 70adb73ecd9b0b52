package form

import (
	"encoding/json"

	"github.com/precis-dev/precis"
)

// Entry returns the stored form of a ledger entry. The error is
// [precis.CodeInvalid] when it has no JSON form.
func Entry(op string, e precis.LedgerEntry) ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	return data, nil
}

// Cost returns the contribution of an entry to the cost of condensing, in US dollars: 0 for the
// kind "request".
func Cost(e precis.LedgerEntry) float64 {
	if e.Kind == "request" {
		return 0
	}
	return e.CostUSD
}
