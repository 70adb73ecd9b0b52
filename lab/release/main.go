// Command release builds everything that a release of precis consists of, from the checkout in
// the current folder, into a folder of its own: archives of the program for six platforms, their
// checksums, a list of components (SBOM), the licences of what is linked, an image for containers,
// packages for npm, and manifests for Homebrew and Scoop.
//
//	go -C lab run ./release -version 0.4.0
//
// Nothing is sent anywhere. Two runs over the same commit with the same Go write the same bytes:
// times are those of the commit, and files are in the order of their names.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "release: error: %v\n", err)
		stop()
		os.Exit(1)
	}
}

// release is one release while it is built.
type release struct {
	version string
	root    string    // of the checkout
	out     string    // the folder that is written
	when    time.Time // the commit's time
	home    string    // URL under which the archives of this version will lie
	sums    []sum     // of the archives
}

// target is a platform.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
	{"windows", "arm64"},
}

// sum is the SHA-256 of a file of the release.
type sum struct{ file, hex string }

// semantic is the form of a version (semver.org) that npm and Go take.
var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func run(ctx context.Context, args []string, notes io.Writer) error {
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	r := &release{}
	f.StringVar(&r.version, "version", "0.0.0-dev", "version, without a v")
	f.StringVar(&r.root, "root", "..", "the checkout")
	f.StringVar(&r.out, "out", "../dist/release", "folder to write; what it holds is removed")
	f.StringVar(&r.home, "home", "https://github.com/precis-dev/precis/releases/download",
		"URL under which the files of v0.0.0 are v0.0.0/FILE")
	only := f.String("only", "", "platforms to build, such as linux/amd64,darwin/arm64; empty: all")
	if err := f.Parse(args); err != nil {
		return err
	}
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("-version %s is not of the form 1.2.3 or 1.2.3-rc.1", r.version)
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	r.home += "/v" + r.version
	stamp, err := output(ctx, r.root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	r.when = time.Unix(seconds, 0).UTC()
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.build(ctx, chosen, notes); err != nil {
		return err
	}
	for _, step := range []func(context.Context, []target) error{
		r.components, r.archives, r.image, r.npm, r.plugins, r.manifests, r.checksums,
	} {
		if err := step(ctx, chosen); err != nil {
			return err
		}
	}
	return r.list(notes)
}

func choose(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	var out []target
	for name := range strings.SplitSeq(only, ",") {
		system, arch, _ := strings.Cut(name, "/")
		at := -1
		for i, t := range targets {
			if t == (target{system, arch}) {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("-only %s: no platform of a release", name)
		}
		out = append(out, targets[at])
	}
	return out, nil
}

// build compiles the program for each platform.
func (r *release) build(ctx context.Context, chosen []target, notes io.Writer) error {
	for _, t := range chosen {
		fmt.Fprintf(notes, "building %s/%s\n", t.os, t.arch)
		path, err := filepath.Abs(r.program(t))
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true",
			"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", path, "./cmd/precis")
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s/%s: %w\n%s", t.os, t.arch, err, text)
		}
	}
	return nil
}

// program is the path of a compiled program.
func (r *release) program(t target) string {
	name := "precis"
	if t.os == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.out, "programs", t.os+"-"+t.arch, name)
}

// checksums writes SHA256SUMS, as sha256sum -c reads it.
func (r *release) checksums(context.Context, []target) error {
	files, err := filepath.Glob(filepath.Join(r.out, "*.*"))
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, path := range files {
		s, err := sumOf(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", s.hex, s.file)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(text.String()), 0o644)
}

// sumOf returns the checksum of a file.
func sumOf(path string) (s sum, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return s, err
	}
	return sum{filepath.Base(path), hex.EncodeToString(h.Sum(nil))}, nil
}

// list prints what the release consists of.
func (r *release) list(notes io.Writer) error {
	return filepath.WalkDir(r.out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == "programs" || d.Name() == "blobs") {
				return filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		fmt.Fprintf(notes, "%11d  %s\n", info.Size(), name)
		return err
	})
}

// output returns what a command prints, without white space around it.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
