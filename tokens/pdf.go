package tokens

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
)

// Limits of what is read of a PDF: bytes of the file, and bytes that its compressed streams may unpack to, together.
const (
	mostPDF      = 64 << 20
	mostUnpacked = 32 << 20
)

// pageBytes is the estimated size of a page of a PDF that does not say how many it has.
const pageBytes = 50_000

// leastPage is a low bound for the bytes of a page: packed and equal, pages take a few.
const leastPage = 4

// pdfPages returns the number of pages of a PDF in base64: the count of its page tree, else what its linearization
// says, else the number of page objects, else an estimate by its size. The result is at least 1.
func pdfPages(data string) int {
	size := decodedLen(data)
	if size > mostPDF {
		return 1 + size/pageBytes
	}
	d := pdf{left: mostUnpacked}
	d.parts = pdfParts(decodeHead(data, size+3))
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

// pdf finds objects in a PDF file. It does not read the cross-reference table, which is often damaged, but searches
// for the objects themselves: of two with one number, the later one in the file replaces the earlier one.
type pdf struct {
	parts []pdfPart
	left  int // bytes that streams may still unpack to
}

// pdfPart is a piece of a file: what stands outside of a stream, and the stream behind it.
type pdfPart struct{ outside, stream []byte }

// pdfParts cuts a file at its streams, whose content may look like objects.
func pdfParts(file []byte) (out []pdfPart) {
	for len(file) > 0 {
		at := pdfStream.FindIndex(file)
		if at == nil {
			break
		}
		stream, next, closed := bytes.Cut(file[at[1]:], []byte("endstream"))
		if !closed { // the file was cut off in the stream
			break
		}
		out = append(out, pdfPart{file[:at[0]], stream})
		file = next
	}
	return append(out, pdfPart{outside: file})
}

var (
	pdfStream = regexp.MustCompile(`stream\r?\n`)
	pdfRoot   = regexp.MustCompile(`/Root\s+(\d{1,9})\s+\d{1,5}\s+R\b`)
	pdfTree   = regexp.MustCompile(`/Pages\s+(\d{1,9})\s+\d{1,5}\s+R\b`)
	pdfCount  = regexp.MustCompile(`/Count\s+(\d{1,9})(\s+\d{1,5}\s+R\b)?`)
	pdfNumber = regexp.MustCompile(`^\s*(\d{1,9})\b`)
	pdfLinear = regexp.MustCompile(`/Linearized[^>]{0,200}/N\s+(\d{1,9})`)
	pdfPage   = regexp.MustCompile(`/Type\s*/Page[^s\w]`)
	pdfPacked = regexp.MustCompile(`/Type\s*/ObjStm\b`)
	pdfFirst  = regexp.MustCompile(`/First\s+(\d{1,9})\b`)
)

// treePages returns the count of the page tree: that of the object which the newest catalog names. 0: it cannot be
// found.
func (d *pdf) treePages() int {
	var catalog []byte
	for _, p := range d.parts { // the last trailer or cross-reference stream is in force
		for rest := p.outside; ; {
			m := pdfRoot.FindSubmatchIndex(rest)
			if m == nil {
				break
			}
			catalog, rest = rest[m[2]:m[3]], rest[m[1]:]
		}
	}
	tree := pdfTree.FindSubmatch(d.object(catalog))
	if tree == nil {
		return 0
	}
	count := pdfCount.FindSubmatch(d.object(tree[1]))
	if count != nil && count[2] != nil { // the count is an object of its own
		count = pdfNumber.FindSubmatch(d.object(count[1]))
	}
	if count == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(count[1])) // nine digits at most
	return n
}

// linearPages returns what a linearized file says at its begin, where its objects are encrypted.
func (d *pdf) linearPages() int {
	begin := d.parts[0].outside
	m := pdfLinear.FindSubmatch(begin[:min(len(begin), 2048)])
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// pageObjects counts the pages that stand outside of streams.
func (d *pdf) pageObjects() (n int) {
	for _, p := range d.parts {
		for rest := p.outside; ; n++ {
			at := pdfPage.FindIndex(rest)
			if at == nil {
				break
			}
			rest = rest[at[1]:]
		}
	}
	return n
}

// object returns the text of the last object with a number; nil when there is none, or it cannot be read.
func (d *pdf) object(number []byte) []byte {
	if len(number) == 0 {
		return nil
	}
	for i := len(d.parts) - 1; i >= 0; i-- {
		p := d.parts[i]
		end := len(p.outside)
		for at := end; ; {
			if at = bytes.LastIndex(p.outside[:at], []byte("obj")); at < 0 {
				break
			}
			n := numberBefore(p.outside[:at])
			if n == nil {
				continue // "endobj"
			}
			text := p.outside[at+len("obj") : end]
			if last := end == len(p.outside); last && pdfPacked.Match(text) {
				if found := d.packed(text, p.stream, number); found != nil {
					return found
				}
			}
			if bytes.Equal(n, number) {
				return text
			}
			end = at
		}
	}
	return nil
}

// numberBefore returns the number of an object whose head, without "obj", ends a text: "12 0 "; nil where it is no
// head.
func numberBefore(head []byte) []byte {
	field := func() (out []byte) {
		head = bytes.TrimRight(head, " \r\n\t")
		from := len(head)
		for from > 0 && '0' <= head[from-1] && head[from-1] <= '9' {
			from--
		}
		out, head = head[from:], head[:from]
		return out
	}
	if generation := field(); len(generation) == 0 {
		return nil
	}
	if n := field(); len(n) > 0 {
		return n
	}
	return nil
}

// packed returns the text of an object in an object stream, which holds pairs of numbers and places, then the
// objects; nil when it is not there. It unpacks no more than what stands up to the object.
func (d *pdf) packed(dictionary, stream, number []byte) []byte {
	const (
		mostPairs = 1 << 20 // bytes
		mostText  = 4 << 10 // bytes of the object
	)
	m := pdfFirst.FindSubmatch(dictionary)
	if m == nil {
		return nil
	}
	first, _ := strconv.Atoi(string(m[1]))
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil || first > min(mostPairs, d.left) {
		return nil
	}
	d.left -= first
	pairs := make([]byte, first)
	if _, err := io.ReadFull(z, pairs); err != nil {
		return nil
	}
	for fields := bytes.Fields(pairs); len(fields) > 1; fields = fields[2:] {
		if !bytes.Equal(fields[0], number) {
			continue
		}
		at, err := strconv.Atoi(string(fields[1]))
		if err != nil || at < 0 || at > d.left {
			return nil
		}
		d.left -= at
		if _, err := io.CopyN(io.Discard, z, int64(at)); err != nil {
			return nil
		}
		text, _ := io.ReadAll(io.LimitReader(z, mostText)) // of a damaged stream what is whole
		return text
	}
	return nil
}
