package toolcall

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// printers print what others have written.
	printers = wordSet("cat head tail grep egrep fgrep rg ag ack sed awk find fd ls less more nl wc diff cmp jq echo printf tree which strings xxd hexdump git:reads gh:reads remote:reads sql:reads curl wget type dir bat batcat tac zcat zgrep zless sort uniq cut column tr od base64 journalctl dmesg stern")
	// sqlFault begins what a client of a database says where a query cannot be carried out.
	sqlFault = lazyregexp.New(`(?m)^(?:psql: (?:error|FATAL)|ERROR:  .*(?:\n.*)?\nLINE \d+:|ERROR:  (?:relation|column|syntax|permission)|ERROR \d{4} \(|Error: (?:in prepare|near |no such)|Parse error)`)
)

// readingVerbs are what git and gh are told when they only print.
var readingVerbs = wordSet("log diff show status blame grep ls-files rev-parse describe view list checks")

// remoteReaders are programs that print what runs elsewhere wrote or is, when they are told so.
var remoteReaders = map[string]map[string]bool{
	"kubectl": wordSet("logs get describe top events explain"), "oc": wordSet("logs get describe"),
	"docker": wordSet("logs ps images inspect top"), "podman": wordSet("logs ps images inspect"), "docker-compose": wordSet("logs ps"),
	"aws": wordSet("logs"), "gcloud": wordSet("logging"), "az": wordSet("monitor"), "heroku": wordSet("logs"), "fly": wordSet("logs status"), "flyctl": wordSet("logs status"),
	"vercel": wordSet("logs"), "pm2": wordSet("logs list"), "systemctl": wordSet("status"), "adb": wordSet("logcat"),
}

// sqlClients are programs that put queries to a database.
var sqlClients = wordSet("psql sqlite3 sqlite mysql mariadb duckdb clickhouse-client bq")

// sqlQuery is a statement that only looks.
var sqlQuery = lazyregexp.New(`(?is)^\s*(?:select|show|explain|describe|with|table|pragma|\\d|\.schema|\.tables)\b`)

// readerName returns the name by which a simple command is known that only prints what others wrote; "" for others.
func readerName(name string, words []word) string {
	words = words[1:min(len(words), 12)]
	switch {
	case name == "git" || name == "gh":
		if slices.ContainsFunc(words[:min(len(words), 3)], func(w word) bool { return readingVerbs[w.text] }) {
			return name + ":reads"
		}
	case remoteReaders[name] != nil:
		for _, w := range words {
			if remoteReaders[name][w.text] {
				return "remote:reads"
			}
			if !strings.HasPrefix(w.text, "-") && w.text != "compose" {
				break
			}
		}
	case sqlClients[name]:
		asks := 0
		for _, w := range words {
			switch {
			case sqlQuery.MatchString(w.text):
				asks++
			case strings.Contains(strings.TrimSpace(w.text), " "), strings.HasSuffix(w.text, ".sql"), w.redirect:
				return "" // a statement of another kind
			}
		}
		if asks > 0 {
			return "sql:reads"
		}
	}
	return ""
}

// elsewhere returns the words of the program that a command runs on another machine or in a container; nil for others.
func elsewhere(name string, words []word) []word {
	switch name {
	case "ssh":
		for i, w := range words[1:] {
			if strings.HasPrefix(w.text, "-") || i > 0 && strings.HasPrefix(words[i].text, "-") && len(words[i].text) == 2 && strings.Contains("bcDEeFIiJLlmOopQRSWw", words[i].text[1:]) {
				continue
			}
			if rest := words[i+2:]; len(rest) == 1 {
				if inner := simpleCommands(rest[0].text); len(inner) > 0 {
					return inner[0]
				}
			} else if len(rest) > 1 {
				return rest
			}
			return nil
		}
	case "docker", "podman", "kubectl", "docker-compose", "oc":
		at := slices.IndexFunc(words, func(w word) bool { return w.text == "exec" })
		if at < 0 || at > 2 {
			return nil
		}
		words = words[at+1:]
		if k := slices.IndexFunc(words, func(w word) bool { return w.text == "--" }); k >= 0 {
			return words[k+1:]
		}
		for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
			n := 1
			if len(words[0].text) == 2 && strings.Contains("uewn", words[0].text[1:]) {
				n = 2
			}
			words = words[min(n, len(words)):]
		}
		if len(words) > 1 {
			return words[1:]
		}
	}
	return nil
}

// Prints reports whether a command line does no more than print what others wrote:
// reading and searching.
func Prints(line string) bool {
	first, all := mainProgram(line)
	return first == "" || !slices.ContainsFunc(all, func(p string) bool { return !printers[p] && !stages[p] })
}

// Fetches reports whether a command line does no more than print what others wrote, and has to reach another machine for it:
// whether that went well is a result of its own.
func Fetches(line string) bool {
	first, _ := mainProgram(line)
	return (first == "curl" || first == "wget" || first == "remote:reads" || first == "sql:reads") && Prints(line)
}

// Shows reports whether a command line prints what others wrote, and does nothing else. One
// that only waits or changes the directory prints nothing.
func Shows(line string) bool {
	_, all := mainProgram(line)
	return Prints(line) && slices.ContainsFunc(all, func(p string) bool { return printers[p] })
}

// lookers are programs that only look, beside printers: what they print says nothing of success. Those that make a folder
// say as little.
var lookers = wordSet("mkdir gh:asks which where whoami date env printenv id uname hostname du df ps")

// Queries reports whether a command line only looks, or sets the stage for what looks: reading, searching, listing, asking
// an interface for what it has.
func Queries(line string) bool {
	_, all := mainProgram(line)
	for i, p := range all {
		if p == "gh" {
			all[i] = asksGitHub(line)
		}
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(p string) bool {
		p = strings.ToLower(p)
		return !printers[p] && !stages[p] && !lookers[p] && !cmdletLooks(p)
	})
}

// asksGitHub returns "gh:asks" for a line in which gh only asks the interface: with no method and no fields given.
func asksGitHub(line string) string {
	for _, words := range lexScript(line).commands {
		var plain []string
		for _, w := range words {
			plain = append(plain, w.text)
		}
		if len(plain) < 2 || base(plain[0]) != "gh" || slices.ContainsFunc(plain[1:min(len(plain), 4)], func(w string) bool { return readingVerbs[w] }) {
			continue
		}
		if plain[1] != "api" || slices.ContainsFunc(plain[2:], func(w string) bool {
			return strings.HasPrefix(w, "-X") || strings.HasPrefix(w, "-f") || strings.HasPrefix(w, "-F") || strings.HasPrefix(w, "--method") || strings.HasPrefix(w, "--field") || strings.HasPrefix(w, "--raw-field") || strings.HasPrefix(w, "--input")
		}) {
			return "gh"
		}
	}
	return "gh:asks"
}
