package tokens_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand"
	"strings"
)

// Media made for tests, as base64.

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// noise is a picture that does not compress: its file is about as large as its
// pixels.
func noise(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	rand.New(rand.NewSource(1)).Read(img.Pix) // never fails
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

func encoded(img image.Image, encode func(io.Writer, image.Image) error) []byte {
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func pngOf(w, h int) []byte    { return encoded(image.NewGray(image.Rect(0, 0, w, h)), png.Encode) }
func noisePNG(w, h int) []byte { return encoded(noise(w, h), png.Encode) }

func jpegOf(w, h int) []byte {
	return encoded(noise(w, h), func(to io.Writer, img image.Image) error { return jpeg.Encode(to, img, nil) })
}

func gifOf(w, h int) []byte {
	two := image.NewPaletted(image.Rect(0, 0, w, h), []color.Color{color.Black, color.White})
	return encoded(two, func(to io.Writer, img image.Image) error { return gif.Encode(to, img, nil) })
}

// webpOf is the header of an extended WebP file and nothing of use behind it.
func webpOf(w, h int) []byte {
	size := func(n int) []byte { return []byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)} }
	chunk := append(append([]byte("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00"), size(w)...), size(h)...)
	chunk = append(chunk, make([]byte, 90)...)
	return append(append([]byte("RIFF\x74\x00\x00\x00"), "WEBP"...), chunk...)
}

// wavOf is mono sound of 16 bits.
func wavOf(seconds float64, rate int) []byte {
	data := make([]byte, int(seconds*float64(rate))*2)
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, uint32(36+len(data)))
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	out = binary.LittleEndian.AppendUint16(out, 1)
	out = binary.LittleEndian.AppendUint16(out, 1)
	out = binary.LittleEndian.AppendUint32(out, uint32(rate))
	out = binary.LittleEndian.AppendUint32(out, uint32(2*rate))
	out = binary.LittleEndian.AppendUint16(out, 2)
	out = binary.LittleEndian.AppendUint16(out, 16)
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	return append(out, data...)
}

// mp3Of is sound of a fixed 64 or 128 kbit/s at 44.1 kHz, behind a tag.
func mp3Of(seconds float64, kbits, tag int) []byte {
	var out []byte
	if tag > 0 {
		out = append(out, "ID3\x04\x00\x00"...)
		out = append(out, byte(tag>>21&0x7f), byte(tag>>14&0x7f), byte(tag>>7&0x7f), byte(tag&0x7f))
		out = append(out, make([]byte, tag)...)
	}
	index := map[int]byte{64: 5, 128: 9}[kbits]
	frame := make([]byte, 144*kbits*1000/44100)
	copy(frame, []byte{0xff, 0xfb, index << 4, 0})
	for n := int(seconds * 44100 / 1152); n > 0; n-- {
		out = append(out, frame...)
	}
	return out
}

// pdfOf is a document of so many pages, each with so many bytes of content.
func pdfOf(pages, bytesEach int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n")
	for n := range pages {
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >> endobj\n", n+3)
		fmt.Fprintf(&b, "stream\n%s\nendstream\n", strings.Repeat("x", bytesEach))
	}
	fmt.Fprintf(&b, "2 0 obj << /Type /Pages /Kids [] /Count %d >> endobj\ntrailer << /Root 1 0 R >>\n%%%%EOF\n", pages)
	return b.Bytes()
}

// packedPDF is a document with its page tree in an object stream, behind so many bytes of zeros.
func packedPDF(pages, bytesEach, zeros int) []byte {
	var b, packed bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	for n := range pages {
		fmt.Fprintf(&b, "%d 0 obj << /Length %d >>\nstream\n%s\nendstream endobj\n", 1000+n, bytesEach, strings.Repeat("x", bytesEach))
	}
	catalog := "<< /Type /Catalog /Pages 2 0 R >> "
	pairs := fmt.Sprintf("1 %d 2 %d ", zeros, zeros+len(catalog))
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(pairs)) // a buffer takes all
	for left := zeros; left > 0; left -= 1 << 20 {
		_, _ = z.Write(make([]byte, min(left, 1<<20)))
	}
	fmt.Fprintf(z, "%s<< /Type /Pages /Kids [] /Count %d >>", catalog, pages)
	_ = z.Close()
	fmt.Fprintf(&b, "3 0 obj << /Type /ObjStm /N 2 /First %d /Filter /FlateDecode >>\nstream\n", len(pairs))
	b.Write(packed.Bytes())
	b.WriteString("\nendstream endobj\n4 0 obj << /Type /XRef /Root 1 0 R >>\nstream\n\x01\x02\nendstream endobj\nstartxref\n9\n%%EOF\n")
	return b.Bytes()
}

// sealed is what an API has encrypted: base64 that nobody else can read.
func sealed(chars int) string {
	data := make([]byte, chars*3/4)
	rand.New(rand.NewSource(2)).Read(data) // never fails
	return b64(data)
}

func prose(words int) string {
	return strings.TrimSpace(strings.Repeat("the quick brown fox jumps over a lazy dog ", words/9+1))
}
