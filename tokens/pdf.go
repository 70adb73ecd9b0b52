package tokens

import (
	"compress/zlib"
	"io"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Limits of a PDF: bytes of the file, and bytes that its compressed streams may unpack to,
// together.
const (
	mostPDF      = 64 << 20
	mostUnpacked = 32 << 20
)

// pageBytes is the estimated size of a page of a PDF that does not say how many it has.
const pageBytes = 50_000

// leastPage is a low bound for the bytes of a page: packed and equal, pages take a few.
const leastPage = 4

// pdfPages returns the number of pages of a PDF in base64: the count of its page tree, else what
// its linearization says, else the number of page objects, else an estimate by its size. The result
// is at least 1.
func pdfPages(data string) int {
	size := decodedLen(data)
	if size > mostPDF {
		return 1 + size/pageBytes
	}
	d := pdf{bytesLeft: mostUnpacked}
	d.parts = pdfParts(string(decodeHead(data, size+3)))
	pages := d.treePages()
	if pages == 0 {
		pages = d.linearPages()
	}
	if pages == 0 {
		pages = d.pageObjects()
	}
	if pages == 0 {
		pages = 1 + size/pageBytes
	}
	return max(1, min(pages, size/leastPage))
}

// pdf finds objects in a PDF file. It does not read the cross-reference table, which is often
// damaged, but searches for the objects themselves: of two with one number, the later one in the
// file replaces the earlier one.
type pdf struct {
	parts     []pdfPart
	bytesLeft int // bytes that streams may still unpack to
}

// pdfPart is a piece of a file: the text before a stream, and the stream.
type pdfPart struct{ outside, stream string }

// pdfParts cuts a file at its streams, since their content may look like objects.
func pdfParts(file string) (out []pdfPart) {
	for file != "" {
		at := pdfStream.FindStringIndex(file)
		if at == nil {
			break
		}
		stream, next, closed := strings.Cut(file[at[1]:], "endstream")
		if !closed { // the file was cut off in the stream
			break
		}
		out = append(out, pdfPart{file[:at[0]], stream})
		file = next
	}
	return append(out, pdfPart{outside: file})
}

var (
	pdfStream = lazyregexp.New(`stream\r?\n`)
	pdfRoot   = lazyregexp.New(`/Root\s+(\d{1,9})\s+\d{1,5}\s+R\b`)
	pdfTree   = lazyregexp.New(`/Pages\s+(\d{1,9})\s+\d{1,5}\s+R\b`)
	pdfCount  = lazyregexp.New(`/Count\s+(\d{1,9})(\s+\d{1,5}\s+R\b)?`)
	pdfNumber = lazyregexp.New(`^\s*(\d{1,9})\b`)
	pdfLinear = lazyregexp.New(`/Linearized[^>]{0,200}/N\s+(\d{1,9})`)
	pdfPage   = lazyregexp.New(`/Type\s*/Page[^s\w]`)
	pdfPacked = lazyregexp.New(`/Type\s*/ObjStm\b`)
	pdfFirst  = lazyregexp.New(`/First\s+(\d{1,9})\b`)
)

// treePages returns the count of the page tree that the newest catalog names; 0 when it cannot be
// found.
func (d *pdf) treePages() int {
	catalog := ""
	for _, p := range d.parts { // the last trailer or cross-reference stream is in force
		for rest := p.outside; ; {
			m := pdfRoot.FindStringSubmatch(rest)
			if m == nil {
				break
			}
			catalog, rest = m[1], rest[strings.Index(rest, m[0])+len(m[0]):]
		}
	}
	tree := pdfTree.FindStringSubmatch(d.object(catalog))
	if tree == nil {
		return 0
	}
	count := pdfCount.FindStringSubmatch(d.object(tree[1]))
	if count != nil && count[2] != "" { // the count is an object of its own
		count = pdfNumber.FindStringSubmatch(d.object(count[1]))
	}
	if count == nil {
		return 0
	}
	n, _ := strconv.Atoi(count[1]) // nine digits at most
	return n
}

// linearPages returns what a linearized file says at its begin, where its objects are encrypted.
func (d *pdf) linearPages() int {
	begin := d.parts[0].outside
	m := pdfLinear.FindStringSubmatch(begin[:min(len(begin), 2048)])
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// pageObjects counts the pages that stand outside of streams.
func (d *pdf) pageObjects() (n int) {
	for _, p := range d.parts {
		for rest := p.outside; ; n++ {
			at := pdfPage.FindStringIndex(rest)
			if at == nil {
				break
			}
			rest = rest[at[1]:]
		}
	}
	return n
}

// object returns the text of the last object with a number; "" when no such object can be read.
func (d *pdf) object(number string) string {
	if number == "" {
		return ""
	}
	for i := len(d.parts) - 1; i >= 0; i-- {
		p := d.parts[i]
		end := len(p.outside)
		for at := end; ; {
			if at = strings.LastIndex(p.outside[:at], "obj"); at < 0 {
				break
			}
			n := numberBefore(p.outside[:at])
			if n == "" {
				continue // "endobj"
			}
			text := p.outside[at+len("obj") : end]
			if last := end == len(p.outside); last && pdfPacked.MatchString(text) {
				if found := d.packed(text, p.stream, number); found != "" {
					return found
				}
			}
			if n == number {
				return text
			}
			end = at
		}
	}
	return ""
}

// numberBefore returns the number at the head of an object, without the "obj" at its end: 12 for
// "12 0 "; "" for other text.
func numberBefore(head string) string {
	field := func() (out string) {
		head = strings.TrimRight(head, " \r\n\t")
		from := len(head)
		for from > 0 && '0' <= head[from-1] && head[from-1] <= '9' {
			from--
		}
		out, head = head[from:], head[:from]
		return out
	}
	if generation := field(); generation == "" {
		return ""
	}
	return field()
}

// packed returns the text of an object in an object stream, which holds pairs of numbers and
// places, then the objects; "" when it is not there. It unpacks the stream only up to the object.
func (d *pdf) packed(dictionary, stream, number string) string {
	const (
		mostPairs = 1 << 20 // bytes
		mostText  = 4 << 10 // bytes of the object
	)
	m := pdfFirst.FindStringSubmatch(dictionary)
	if m == nil {
		return ""
	}
	first, _ := strconv.Atoi(m[1])
	z, err := zlib.NewReader(strings.NewReader(stream))
	if err != nil || first > min(mostPairs, d.bytesLeft) {
		return ""
	}
	d.bytesLeft -= first
	pairs := make([]byte, first)
	if _, err := io.ReadFull(z, pairs); err != nil {
		return ""
	}
	for fields := strings.Fields(string(pairs)); len(fields) > 1; fields = fields[2:] {
		if fields[0] != number {
			continue
		}
		at, err := strconv.Atoi(fields[1])
		if err != nil || at < 0 || at > d.bytesLeft {
			return ""
		}
		d.bytesLeft -= at
		if _, err := io.CopyN(io.Discard, z, int64(at)); err != nil {
			return ""
		}
		text, _ := io.ReadAll(io.LimitReader(z, mostText)) // of a damaged stream, the part before the damage
		return string(text)
	}
	return ""
}
