package tokens

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/precis-dev/precis"
)

// Tokens per second of audio: OpenAI counts one per 100 ms of user input and one per 50 ms of model
// output (guide to audio and Realtime costs), Google 32 per second (token guide).
const (
	audioHeard  = 10.0
	audioSpoken = 20.0
	audioGemini = 32.0
)

// unknownAudio is the assumed length, in seconds, of audio that is given only by an ID.
const unknownAudio = 10.0

// Rates in bytes per second. slowestRate is below the rate of every codec; a header that claims a
// longer duration than it allows is ignored. packedRate is assumed for MP3 and similar formats
// without information in the header. pcmRate is for 16-bit samples at 24 kHz without a header,
// which OpenAI calls pcm16.
const (
	slowestRate = 500.0
	packedRate  = 16_000.0
	pcmRate     = 48_000.0
)

func (m media) audioTokens(seconds float64, role precis.Role) int {
	rate := audioHeard
	switch {
	case m.rule == ImagesGemini || m.rule == ImagesGemini3:
		rate = audioGemini
	case role == precis.RoleAssistant:
		rate = audioSpoken
	}
	return int(rate*seconds + 0.5)
}

// seconds returns the duration of base64 audio from its header, or else from its size.
func seconds(data string) float64 {
	size := float64(decodedLen(data))
	head := decodeHead(data, headBytes)
	s := 0.0
	switch {
	case bytes.HasPrefix(head, []byte("RIFF")):
		s = wavSeconds(head, size)
	case bytes.HasPrefix(head, []byte("fLaC")):
		s = flacSeconds(head)
	case bytes.HasPrefix(head, []byte("OggS")):
		s = oggSeconds(data)
	case isMP3(head):
		s = mp3Seconds(data, head, size)
	case len(head) > 8 && string(head[4:8]) == "ftyp", bytes.HasPrefix(head, []byte("\x1aE\xdf\xa3")):
		s = size / packedRate // MP4, WebM
	default:
		s = size / pcmRate
	}
	if s <= 0 {
		s = size / packedRate
	}
	return min(s, size/slowestRate)
}

// wavSeconds reads the byte rate of a WAV file. It ignores the stated data size, because files that
// are still being recorded lack it.
func wavSeconds(head []byte, size float64) float64 {
	at := bytes.Index(head[:min(len(head), 4096)], []byte("fmt "))
	if at < 0 || at+20 > len(head) {
		return 0
	}
	rate := float64(binary.LittleEndian.Uint32(head[at+16:]))
	if rate <= 0 {
		return 0
	}
	return size / rate
}

// flacSeconds reads the sample rate and the number of samples.
func flacSeconds(head []byte) float64 {
	if len(head) < 26 {
		return 0
	}
	info := binary.BigEndian.Uint64(head[18:])
	rate, samples := info>>44, info&(1<<36-1)
	if rate == 0 {
		return 0
	}
	return float64(samples) / float64(rate)
}

// oggSeconds reads the position of the last page, in samples at 48 kHz, as in Opus.
func oggSeconds(data string) float64 {
	const tail = 64 << 10
	end := decodeFrom(data, max(decodedLen(data)-tail, 0), tail+3)
	at := bytes.LastIndex(end, []byte("OggS"))
	if at < 0 || at+14 > len(end) {
		return 0
	}
	position := binary.LittleEndian.Uint64(end[at+6:])
	if position > 1<<40 {
		return 0
	}
	return float64(position) / 48_000
}

// isMP3 reports whether bytes begin with a tag or a frame of MP3.
func isMP3(head []byte) bool {
	return bytes.HasPrefix(head, []byte("ID3")) || len(head) > 2 && head[0] == 0xff && head[1]&0xe6 == 0xe2
}

var (
	mp3Kilobits = [2][16]float64{ // MPEG 1, MPEG 2; layer III
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	mp3Rates = [4]float64{44_100, 48_000, 32_000}
)

// mp3Seconds reads the first frame: the number of frames if it is stated, else the bit rate.
func mp3Seconds(data string, head []byte, size float64) float64 {
	skip := 0
	if bytes.HasPrefix(head, []byte("ID3")) && len(head) > 10 {
		skip = 10 + int(head[6]&0x7f)<<21 + int(head[7]&0x7f)<<14 + int(head[8]&0x7f)<<7 + int(head[9]&0x7f)
	}
	frame := decodeFrom(data, skip, 256)
	if aligned := skip % 3; aligned < len(frame) {
		frame = frame[aligned:]
	}
	if len(frame) < 4 || frame[0] != 0xff || frame[1]&0xe6 != 0xe2 {
		return 0
	}
	older, perFrame := 0, 1152.0
	rate := mp3Rates[frame[2]>>2&3]
	if frame[1]&0x08 == 0 {
		older, perFrame, rate = 1, 576, rate/2
	}
	for _, name := range []string{"Xing", "Info"} {
		at := strings.Index(string(frame), name)
		if at > 0 && at+12 <= len(frame) && frame[at+7]&1 != 0 && rate > 0 {
			return float64(binary.BigEndian.Uint32(frame[at+8:])) * perFrame / rate
		}
	}
	bits := mp3Kilobits[older][frame[2]>>4]
	if bits == 0 {
		return 0
	}
	return max(size-float64(skip), 0) * 8 / (1000 * bits)
}
