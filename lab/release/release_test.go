package main

import (
	"archive/tar"
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var update = flag.Bool("update", false, "write the plugin of Claude Code into packaging")

// The plugin in the repository, which Claude Code installs by itself, is the one that precis
// install writes.
func TestMarketplaceIsWhatInstallWrites(t *testing.T) {
	files, err := pluginFiles("claude-code", newest(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		rel, ok := strings.CutPrefix(f.name, "claude-code/")
		if !ok {
			continue // the user's settings
		}
		rel, inside := strings.CutPrefix(rel, "precis/")
		to := filepath.Join("..", "..", rel)
		if inside {
			to = filepath.Join("..", "..", "packaging", "claude-code", rel)
		} else {
			f.data = []byte(strings.Replace(string(f.data), `"./precis"`, `"./packaging/claude-code"`, 1))
		}
		seen++
		if *update {
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, f.data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != string(f.data) {
			t.Errorf("%s is not what precis install writes (%v); run go -C lab test ./release -update", to, err)
		}
	}
	if seen < 5 {
		t.Errorf("the plugin has %d files", seen)
	}
}

// newest returns the newest version of the change log.
func newest(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## ")
	version, _, ok := strings.Cut(rest, " ")
	if !ok {
		t.Fatal("CHANGELOG.md has no version")
	}
	return version + ".0"
}

// built is a release for Linux that the tests share; its folder outlives the test that made it.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "precis-release-*"); err != nil {
		return "", err
	}
	return dir, run(context.Background(), []string{"-root", "../..", "-out", dir, "-version", "1.2.3", "-only", "linux/amd64",
		"-home", "http://127.0.0.1:1"}, io.Discard)
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if !testing.Short() {
		dir, _ := built()
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func releaseOf(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a release")
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTwoReleasesAreEqual(t *testing.T) {
	first, second := releaseOf(t), t.TempDir()
	if err := run(t.Context(), []string{"-root", "../..", "-out", second, "-version", "1.2.3", "-only", "linux/amd64",
		"-home", "http://127.0.0.1:1"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SHA256SUMS", "image/index.json"} {
		want, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(second, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s differs (%v):\n%s\n%s", name, err, got, want)
		}
	}
}

// The installer takes the archive that its checksum names, and no other.
func TestInstaller(t *testing.T) {
	dir := releaseOf(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	install := func(t *testing.T, url string) (string, error) {
		home := t.TempDir()
		cmd := exec.Command("sh", filepath.Join(dir, "install.sh"))
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "PRECIS_URL=" + url}
		out, err := cmd.CombinedOutput()
		if err != nil {
			if _, err := os.Stat(filepath.Join(home, ".local")); err == nil {
				t.Error("something was installed")
			}
			return string(out), err
		}
		version, err := exec.Command(filepath.Join(home, ".local", "bin", "precis"), "version").Output()
		return string(version), err
	}
	if got, err := install(t, server.URL); err != nil || !strings.HasPrefix(got, "precis 1.2.3 (commit ") {
		t.Errorf("%s %v", got, err)
	}
	if got, err := install(t, server.URL+"/nowhere"); err == nil || !strings.Contains(got, "cannot be read") {
		t.Errorf("%s %v", got, err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "something else")
	}))
	defer other.Close()
	if got, err := install(t, other.URL); err == nil || !strings.Contains(got, "nothing was installed") {
		t.Errorf("%s %v", got, err)
	}
}

// The packages for npm can be installed into an empty folder, and start the program.
func TestPackagesOfNPM(t *testing.T) {
	dir := releaseOf(t)
	npm, err := exec.LookPath("npm")
	if err != nil {
		if os.Getenv("CI_REQUIRE_NPM") != "" {
			t.Fatal(err)
		}
		t.Skip("npm is not installed")
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packages) != 4 {
		t.Fatalf("%v %v", packages, err)
	}
	home := t.TempDir()
	cmd := exec.Command(npm, append([]string{"install", "--offline", "--no-audit", "--no-fund"}, packages...)...)
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for args, want := range map[string]int{"version": 0, "frobnicate": 2} {
		cmd := exec.Command(filepath.Join(home, "node_modules", ".bin", "precis"), args)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want || want == 0 && !strings.HasPrefix(string(out), "precis 1.2.3 ") {
			t.Errorf("%s: %d %s", args, got, out)
		}
	}
}

func TestComponentsAreComplete(t *testing.T) {
	dir := releaseOf(t)
	notices, err := os.ReadFile(filepath.Join(dir, noticesFile))
	if err != nil {
		t.Fatal(err)
	}
	bill, err := os.ReadFile(filepath.Join(dir, componentsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"tokens", "models"} {
		if !strings.Contains(string(notices), "\n== data in "+data+"\n") {
			t.Errorf("the data in %s have no notice", data)
		}
	}
	for _, module := range []string{"std", "github.com/spf13/cobra", "modernc.org/sqlite"} {
		if !strings.Contains(string(notices), "\n== "+module+" ") || !strings.Contains(string(bill), `"pkg:golang/`+module+"@") {
			t.Errorf("%s is missing", module)
		}
	}
}

func TestALicenceIsNeeded(t *testing.T) {
	dir := t.TempDir()
	m := debug.Module{Path: "example.com/m", Version: "v1.0.0"}
	for text, want := range map[string]bool{"": false, "All rights reserved.": false, "This is free software under the GNU General Public License.": false, mit: true} {
		if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := licensed(m, dir); err == nil != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
`

// The image has what the gateway needs, and starts it as a user without rights.
func TestImage(t *testing.T) {
	dir := releaseOf(t)
	img, err := tarball.ImageFromPath(filepath.Join(dir, "precis_1.2.3_image_amd64.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	path, err := layout.FromPath(filepath.Join(dir, "image"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Architecture != "amd64" {
		t.Errorf("%+v", config.Config)
	}
	files := map[string]*tar.Header{}
	r := mutate.Extract(img)
	defer r.Close()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h
	}
	if data := files["data"]; data == nil || data.Uid != nobody || data.Mode != 0o750 {
		t.Errorf("data: %+v", data)
	}
	if p := files["usr/bin/precis"]; p == nil || p.Uid != 0 || p.Mode != 0o755 {
		t.Errorf("precis: %+v", p)
	}
	if c := files["etc/ssl/certs/ca-certificates.crt"]; c == nil || c.Size < 100_000 {
		t.Errorf("certificates: %+v", c)
	}
}

// What the files for services set are keys of precis.
func TestServicesSetKeysThatExist(t *testing.T) {
	dir := releaseOf(t)
	out, err := exec.Command(filepath.Join(dir, "programs", "linux-amd64", "precis"), "config", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	set := regexp.MustCompile(`PRECIS_GATEWAY_[A-Z_]+`)
	for _, name := range []string{"compose.yaml", "kubernetes.yaml", "precis.service", "../lab/release/image.go"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "packaging", name))
		if err != nil {
			t.Fatal(err)
		}
		found := set.FindAllString(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s sets nothing", name)
		}
		for _, v := range found {
			if key := "gateway." + strings.ToLower(strings.TrimPrefix(v, "PRECIS_GATEWAY_")); !strings.Contains(string(out), `"`+key+`"`) {
				t.Errorf("%s sets %s, and there is no key %s", name, v, key)
			}
		}
		if strings.HasSuffix(name, ".yaml") {
			var v any
			for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
				if err := d.Decode(&v); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	if verify, err := exec.LookPath("systemd-analyze"); err == nil {
		unit, err := os.ReadFile("../../packaging/precis.service")
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "precis.service") // over a program that is there
		if err := os.WriteFile(to, bytes.ReplaceAll(unit, []byte("/usr/local/bin/precis"), []byte("/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(verify, "verify", to).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, args := range [][]string{{"-version", "v1"}, {"-only", "plan9/mips"}, {"-frobnicate"}} {
		if err := run(t.Context(), append(args, "-out", filepath.Join(t.TempDir(), "x")), io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
