// Package keeper is precis as one object for Go programs: conversations in one SQLite
// file, and a model's window that none of them passes. Use [Open].
//
// There are two ways to use it, and a program may use both:
//
//   - [Keeper.HTTPClient] is an HTTP client for the SDK of a model API. The program
//     sends its whole conversation with each request, as ever; the model gets a view of
//     it that fits its window. This is the gateway of precis without a port.
//   - [Keeper.Conversation] is a conversation by name. The program appends what is said
//     and asks for the view to send, with whatever client it likes.
//
// Either way everything that was said stays in the file, what was hidden is found by
// its handle, and each reduction can be taken back.
//
// The package calls no model by itself: hand one in as [Options.Summarizer], else
// digests are written without one. So it needs no SDK.
package keeper

import (
	"context"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/store"
	"precis/store/memory"
	"precis/store/sqlite"
)

// Keeper keeps the conversations of a program. Make one with [Open] and end it with
// [Keeper.Close]. It is safe for concurrent use; several processes of one machine may
// open the same file.
type Keeper struct {
	o       Options // complete
	store   shelf
	gateway *gateway.Gateway
	manager *precis.Manager
	home    home

	mu    sync.Mutex
	open  map[string]heldPointer // conversations that somebody has a handle of
	named map[string]string      // IDs of conversations by the names that requests gave them
}

// shelf is what a store must be able to do.
type shelf interface {
	precis.Store
	store.Scoper
}

// Open opens the file of conversations at path, which is made when it is missing; its
// folder must be there. With the path "" conversations live in memory and are gone at
// the end. The error is [precis.CodeInvalid] for a file that is no store and for
// options that make no sense, and [precis.CodeInternal] when the file cannot be used.
func Open(path string, o Options) (*Keeper, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	st, err := openStore(path)
	if err != nil {
		return nil, err
	}
	k := &Keeper{o: o, store: st, open: map[string]heldPointer{}, named: map[string]string{}}
	if err := k.assemble(path != ""); err != nil {
		_ = st.Close()
		return nil, err
	}
	return k, nil
}

func openStore(path string) (shelf, error) {
	if path == "" {
		return memory.New(), nil
	}
	return sqlite.Open(context.Background(), path, sqlite.Options{})
}

// closeFor is how long Close waits for what is being written.
const closeFor = 10 * time.Second

// Close ends the requests under way, stores what is not stored yet, for which it waits
// ten seconds at most, and closes the file. The error says that something could not be
// stored. Calls after it fail.
func (k *Keeper) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeFor)
	defer cancel()
	err := k.gateway.Close(ctx)
	if cerr := k.store.Close(); err == nil {
		err = cerr
	}
	return err
}

// HTTPClient returns a client for the SDKs of model APIs: requests to models carry a
// view that fits the window, all others are sent as they are. See
// [Keeper.RoundTripper].
func (k *Keeper) HTTPClient() *http.Client { return &http.Client{Transport: k.RoundTripper(nil)} }

// RoundTripper returns a transport for requests to model APIs over base; nil means
// [http.DefaultTransport].
//
// A request to a model is one whose path is that of the Messages, Chat Completions or
// Responses API; the client's whole conversation is in it. It is recognized by what is
// said in it, and sent to the very URL that it names, with the credentials that it
// carries and no others. What the model says is streamed. A server that refuses a
// request as too long is asked again with a smaller view, and its window is remembered.
// Any other request goes to base untouched.
//
// A response must be closed, as always. Closing it, or the end of the request's
// context, ends the request.
func (k *Keeper) RoundTripper(base http.RoundTripper) http.RoundTripper {
	return k.gateway.RoundTripper(base)
}

// Named returns a context for requests of [Keeper.HTTPClient] that belong to the
// conversation called name, by which [Keeper.Conversation] finds it. The name decides
// nothing: of several conversations that are held under one name, those of sub-agents
// for example, the one used last is found.
func Named(ctx context.Context, name string) context.Context { return gateway.WithName(ctx, name) }

// Home returns all conversations, for the verbs of package conversation, the dashboard
// and the MCP server.
func (k *Keeper) Home() conversation.Home { return k.home }

// List returns a page of the conversations, the last updated first.
func (k *Keeper) List(ctx context.Context, q conversation.Listing) (conversation.Page[conversation.Listed], error) {
	return conversation.List(ctx, k.home, q)
}

// Search finds messages of all conversations, or of the one that o names by its ID,
// whether a view hides them or not. A message may be found a little after it was said.
func (k *Keeper) Search(ctx context.Context, o conversation.SearchOptions) (conversation.FoundList, error) {
	return conversation.Search(ctx, k.home, o)
}

// Purge forgets conversations, in the file too.
func (k *Keeper) Purge(ctx context.Context, o conversation.PurgeOptions) (store.PurgeResult, error) {
	return conversation.Purge(ctx, k.home, o)
}
