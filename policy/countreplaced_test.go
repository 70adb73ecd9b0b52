package policy

import (
	"testing"

	"github.com/precis-dev/precis"
)

func TestAnEditCountsWhatItReplaces(t *testing.T) {
	e := precis.Edit{Report: precis.EditReport{Messages: 9, Blocks: 9}, Replace: []precis.Replacement{{From: 2, To: 5}, {From: 7, To: 8, Block: &precis.BlockRef{}}, {From: 8, To: 9}}}
	countReplaced(&e)
	if r := e.Report; r.Messages != 4 || r.Blocks != 1 {
		t.Errorf("%d messages and %d blocks, want 4 and 1", r.Messages, r.Blocks)
	}
}
