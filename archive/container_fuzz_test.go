package archive_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

// A file of precis is read, with its view, or refused with its name; what was read
// is written again as it was.
func FuzzContainer(f *testing.F) {
	c := archive.NewContainer("plain", "x.json", []byte(recording))
	data, err := c.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"edits"`), []byte(`"Edits"`), 1))
	f.Add([]byte(`{"precis":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		rec, err := archive.Read(archive.Source{Path: "y.precis", Data: data}, formats.All())
		if !bytes.Equal(before, data) {
			t.Fatal("reading changed the data")
		}
		if err != nil {
			if code := precis.CodeOf(err); code != precis.CodeInvalid && code != precis.CodeConflict && !os.IsNotExist(err) {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		precis.View(rec.Conversation.Transcript, rec.Conversation.Edits)
	})
}
