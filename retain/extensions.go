package retain

import "strings"

// extensions are the endings that identify a word with a dot as a file. ambiguous are endings that
// are also names of attributes: self.test is a file only as part of a path. errorCodes are names of
// errors that cannot be recognized by their form, since other words in capitals look the same.
var (
	extensions = set(extensionList)
	ambiguous  = set(ambiguousList)
	errorCodes = set(errorCodeList)
)

func set(list string) map[string]struct{} {
	m := map[string]struct{}{}
	for _, e := range strings.Fields(list) {
		m[e] = struct{}{}
	}
	return m
}

const extensionList = `
	go mod sum work py pyi pyx ipynb ts tsx mts cts js jsx mjs cjs vue svelte astro rs java kt kts scala groovy gradle
	c h cc cpp cxx hpp hh m mm cs fs vb rb erb php swift dart lua pl pm r jl ex exs erl hrl hs ml mli clj cljs elm zig nim
	v sol asm s f90 pas d pony templ sh bash zsh fish ps1 bat cmd awk sed make mk cmake bazel bzl dockerfile
	html htm css scss sass less xml xsl xsd svg json jsonl json5 yaml yml toml ini cfg conf env properties plist lock
	md mdx rst txt tex adoc org csv tsv sql db sqlite parquet proto graphql gql thrift avsc tf hcl nix
	log out diff patch bak tmp pid sock png jpg jpeg gif webp ico pdf doc docx xls xlsx ppt pptx zip tar gz tgz xz bz2
	jar war class whl exe dll so dylib wasm bin npy npz pkl pt onnx mp3 mp4 wav service rules snap golden test`

const ambiguousList = `
	work m v d s r f90 pl pm ex hrl out diff test golden snap rules service lock bin env sum mod conf class bak tmp pid
	sock make properties svg db sql doc exe ml pas`

const errorCodeList = `
	EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EAUTH EBADENGINE EBADF EBADMSG EBADPLATFORM EBUSY ECANCELED ECHILD
	ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDESTADDRREQ EDOM EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EILSEQ
	EINPROGRESS EINTEGRITY EINTR EINVAL EISCONN EISDIR EISGIT EJSONPARSE ELIFECYCLE ELOOP EMFILE EMLINK EMSGSIZE ENAMETOOLONG
	ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS ENODATA ENODEV ENOENT ENOEXEC ENOGIT ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT
	ENOSPC ENOSR ENOSTR ENOSYS ENOTCACHED ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSOCK ENOTSUP ENOTTY ENOVERSIONS ENXIO ENOWORKSPACES
	EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE ERESOLVE EROFS ESHUTDOWN ESOCKET ESOCKETTIMEDOUT
	ESPIPE ESRCH ESTALE ETARGET ETIME ETIMEDOUT ETXTBSY EUSAGE EWOULDBLOCK EXDEV`
