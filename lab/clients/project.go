package clients

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// FileBytes is the approximate size of a project file. Qwen Code cuts files above 25,000
// characters.
const FileBytes = 24_500

var words = strings.Fields(`
	time year people way day man thing woman life child world school state family student group country problem hand part
	place case week company system program question work government number night point home water room mother area money
	story fact month lot right study book eye job word business issue side kind head house service friend father power hour
	game line end member law car city community name president team minute idea kid body information back parent face level
	office door health person art war history party result change morning reason research girl guy moment air teacher force
	often early green heavy quick narrow gentle northern quiet golden plain honest broad simple steady curious silver late
	walks carries opens writes follows keeps turns holds answers crosses gathers paints builds reads measures finds leaves`)

// writeProject writes the files to read and returns their paths. The same n gives the same files.
func writeProject(dir string, n, size int) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	readme := "# Notes\n\nA folder of notes, one file per topic. They are read one by one.\n"
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(readme), 0o644); err != nil {
		return nil, err
	}
	var paths []string
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("notes%02d.txt", i+1))
		if err := os.WriteFile(path, []byte(notes(i+1, size)), 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// notes returns the text of a file of about size bytes.
func notes(number, size int) string {
	random := rand.New(rand.NewPCG(uint64(number), 1))
	var out strings.Builder
	for line := 1; out.Len() < size; line++ {
		fmt.Fprintf(&out, "file %02d line %d:", number, line)
		for range 8 + random.IntN(5) {
			out.WriteByte(' ')
			out.WriteString(words[random.IntN(len(words))])
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "file %02d ends here\n", number)
	return out.String()
}

var (
	beginning = regexp.MustCompile(`file (\d\d) line 2:`)
	middle    = regexp.MustCompile(`file (\d\d) line 150:`) // long results are cut around here
	ending    = regexp.MustCompile(`file (\d\d) ends here`)
)

// found adds the numbers of the files with a mark in a text.
func found(set map[int]bool, text []byte, mark *regexp.Regexp) {
	for _, m := range mark.FindAllSubmatch(text, -1) {
		n, _ := strconv.Atoi(string(m[1])) // always two digits
		set[n] = true
	}
}
