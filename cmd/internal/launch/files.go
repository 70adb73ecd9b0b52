package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/precis-dev/precis/cmd/internal/folder"
)

// object is a JSON object.
type object = map[string]any

// home returns a client's folder: the one in a variable, else one in the user's home.
func (p Place) home(variable string, names ...string) string {
	if dir := p.Env(variable); variable != "" && dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, names...)...)
}

// xdg returns a client's folder in the user's configuration folder.
func (p Place) xdg(name string) string {
	if dir := p.Env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, name)
	}
	return filepath.Join(p.Home, ".config", name)
}

// readObject reads the first existing one of the files, JSON with or without comments. If none
// exists, it returns an empty object and no path.
func readObject(dir string, names ...string) (object, string, error) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		out, err := parseObject(path, data)
		return out, path, err
	}
	return object{}, "", nil
}

// readFolderObject reads such a file in the working directory, or in a parent. If none exists, it
// returns an empty object and no path.
func readFolderObject(dir, name string) (object, string, error) {
	path := filepath.Join(dir, name)
	data, err := folder.Read(path)
	if isNothing(err) {
		return object{}, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	out, err := parseObject(path, data)
	return out, path, err
}

// isNothing reports whether the file does not exist, or its folder is a file.
func isNothing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func parseObject(path string, data []byte) (object, error) {
	out := object{}
	d := json.NewDecoder(strings.NewReader(plainJSON(string(data))))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// sameFolder reports whether two paths are the same folder.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// plainJSON removes comments and trailing commas from JSON.
func plainJSON(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch rest := s[i:]; {
		case s[i] == '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(s))
			out.WriteString(s[i:end])
			i = end - 1
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				return out.String()
			}
			i += n - 1
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return out.String()
			}
			i += n + 1
		case s[i] == ',' && closes(s[i+1:]):
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// closes reports whether only white space and comments precede the end of an object or array.
func closes(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(s, "//"):
			end = "\n"
		case strings.HasPrefix(s, "/*"):
			end = "*/"
		default:
			return strings.HasPrefix(s, "}") || strings.HasPrefix(s, "]")
		}
		_, after, ok := strings.Cut(s, end)
		if !ok {
			return false
		}
		s = after
	}
}

// objectAt returns the object at a path of keys; nil if it does not exist.
func objectAt(o object, path ...string) object {
	for _, key := range path {
		next, ok := o[key].(object)
		if !ok {
			return nil
		}
		o = next
	}
	return o
}

// text returns the string at a path of keys; "" if it does not exist.
func text(o object, path ...string) string {
	last := len(path) - 1
	s, _ := objectAt(o, path[:last]...)[path[last]].(string)
	return s
}

// write writes a file for the client and returns its path.
func (p *Plan) write(data []byte, path ...string) (string, error) {
	dir, err := p.place.Temp.Dir()
	if err != nil {
		return "", err
	}
	name := filepath.Join(append([]string{dir}, path...)...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, data, 0o600)
}

func (p *Plan) writeJSON(v any, path ...string) (string, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	return p.write(data, path...)
}

// mirror makes a folder with links to the entries of dir, except without. So the client's changes
// go to dir.
func (p *Plan) mirror(dir, name string, without string) (string, error) {
	temp, err := p.place.Temp.Dir()
	if err != nil {
		return "", err
	}
	to := filepath.Join(temp, name)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		if e.Name() == without {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return "", err
		}
	}
	return to, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
