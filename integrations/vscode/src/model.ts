// The state that the status bar and the tree show, kept up to date while the window has the
// focus. Nothing here knows the editor.

import type { Api, Details, Event, Listed, Settings } from './api';
import { PrecisError } from './api';

/** How many conversations are listed. */
export const mostListed = 50;

/** Delays in milliseconds. */
export interface Delays {
  settle: number; // events within it lead to one refresh
  first: number; // before the stream of events is opened again
  last: number; // the most between two attempts; each waits twice as long as the one before
}

export const usualDelays: Delays = { settle: 300, first: 1000, last: 60_000 };

export interface State {
  /** undefined: nothing was asked yet */
  error?: PrecisError;
  known: boolean;
  conversations: Listed[];
  more: boolean; // there are others, which are not listed
  followed?: Details; // what the status bar shows
  settings?: Settings; // of the followed conversation
}

export class Model {
  state: State = { known: false, conversations: [], more: false };

  /** Whether the stream of events is open. */
  listening = false;

  private stopped: AbortController | undefined;
  private refreshing: Promise<void> | undefined;
  private again = false;
  private settled: ReturnType<typeof setTimeout> | undefined;
  private lastEvent = '';
  private settings = new Map<string, Settings>();

  constructor(
    private api: Api,
    /** ID of the conversation that the user chose to follow; undefined: the newest. */
    private choice: string | undefined,
    private readonly changed: () => void,
    private readonly delays: Delays = usualDelays,
  ) {}

  get running(): boolean {
    return this.stopped !== undefined;
  }

  /** Begins to listen, and refreshes. It does nothing while it listens. */
  start(): void {
    if (this.stopped) {
      return;
    }
    this.stopped = new AbortController();
    void this.listen(this.stopped.signal);
  }

  /** Ends listening. No request is sent until start. */
  stop(): void {
    this.stopped?.abort();
    this.stopped = undefined;
    clearTimeout(this.settled);
    this.settled = undefined;
  }

  /** Asks another precis, or the same one with other credentials. */
  use(api: Api): void {
    const was = this.running;
    this.stop();
    this.api = api;
    this.lastEvent = '';
    this.settings.clear();
    this.set({ known: false, conversations: [], more: false });
    if (was) {
      this.start();
    }
  }

  follow(id: string | undefined): Promise<void> {
    this.choice = id;
    return this.refresh();
  }

  /** Reads the state anew. Calls during a refresh lead to one more. It never throws. */
  refresh(): Promise<void> {
    if (this.refreshing) {
      this.again = true;
      return this.refreshing;
    }
    this.refreshing = (async () => {
      do {
        this.again = false;
        await this.read();
      } while (this.again);
    })().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  private async read(): Promise<void> {
    const api = this.api;
    let next: State;
    try {
      const list = await api.conversations(mostListed);
      next = { known: true, conversations: list.items, more: !!list.next_cursor };
      const followed = await this.details(api, list.items);
      if (followed) {
        next.followed = followed;
        const settings = await this.settingsOf(api, followed.profile ?? '');
        if (settings) {
          next.settings = settings;
        }
      }
    } catch (err) {
      next = { known: true, conversations: [], more: false, error: err instanceof PrecisError ? err : new PrecisError('internal', String(err)) };
    }
    if (api === this.api) {
      this.set(next);
    }
  }

  /** Returns the conversation that is followed; the newest where the chosen one is gone. */
  private async details(api: Api, list: Listed[]): Promise<Details | undefined> {
    for (const id of new Set([this.choice, list[0]?.id])) {
      try {
        if (id !== undefined) {
          return await api.conversation(id);
        }
      } catch (err) {
        if (!(err instanceof PrecisError) || err.code !== 'not_found') {
          throw err;
        }
      }
    }
    return undefined;
  }

  /** Returns the settings of a profile, the default ones for a profile that is unknown. */
  private async settingsOf(api: Api, profile: string): Promise<Settings | undefined> {
    const known = this.settings.get(profile);
    if (known) {
      return known;
    }
    try {
      const settings = await api.settings(profile);
      this.settings.set(profile, settings);
      return settings;
    } catch (err) {
      if (err instanceof PrecisError && err.code === 'unreachable') {
        throw err;
      }
      return profile === '' ? undefined : this.settingsOf(api, '');
    }
  }

  private set(state: State): void {
    this.state = state;
    this.changed();
  }

  /** Listens to events until the signal, with longer and longer pauses while that fails. */
  private async listen(signal: AbortSignal): Promise<void> {
    let pause = this.delays.first;
    while (!signal.aborted) {
      await this.refresh();
      if (!this.state.error && !signal.aborted) {
        try {
          await this.api.events(this.lastEvent, signal, () => {
            pause = this.delays.first;
            this.listening = true;
          }, (e) => this.heard(e, signal));
        } catch {
          // the refresh that follows says why
        }
        this.listening = false;
      }
      await wait(pause, signal);
      pause = Math.min(2 * pause, this.delays.last);
    }
  }

  private heard(event: Event, signal: AbortSignal): void {
    this.lastEvent = event.id;
    if (signal.aborted) {
      return;
    }
    if (event.type === 'settings') {
      this.settings.clear();
    }
    this.settled ??= setTimeout(() => {
      this.settled = undefined;
      void this.refresh();
    }, this.delays.settle);
  }
}

/** Waits so many milliseconds, or until the signal. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) {
      done();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
