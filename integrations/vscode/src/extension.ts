// The extension: commands, the status bar and the tree of sessions over the model. What is
// shown is computed in format.ts, what is asked in api.ts.

import * as vscode from 'vscode';
import { Api, type Condensed, type CondenseRequest, type Credentials, type Listed, type Message, PrecisError, isLoopback, readAddress } from './api';
import * as format from './format';
import { Model, type State } from './model';
import { makeSecret, readSecret, secretPath } from './secret';
import { type Node, Sessions } from './tree';

const defaultAddress = 'http://127.0.0.1:8377';
const followedKey = 'precis.followed'; // in the state of the workspace

const t: format.Translate = (text, ...args) => vscode.l10n.t(text, ...args);

/** Returns the configured address, else that of the environment, else the default one. */
function address(): string {
  const configured = vscode.workspace.getConfiguration('precis').get<string>('address', '').trim();
  return readAddress(configured || process.env['PRECIS_URL'] || defaultAddress);
}

export function activate(context: vscode.ExtensionContext): void {
  const precis = new Extension(context);
  context.subscriptions.push(precis);
  precis.begin();
}

export class Extension implements vscode.Disposable {
  readonly model: Model;
  private api: Api;
  private readonly sessions: Sessions;
  private readonly tree: vscode.TreeView<Node>;
  private readonly bar: vscode.StatusBarItem;
  private readonly owned: vscode.Disposable[] = [];

  constructor(private readonly context: vscode.ExtensionContext) {
    this.api = this.connect();
    this.sessions = new Sessions(t, vscode.env.language);
    this.tree = vscode.window.createTreeView('precis.sessions', { treeDataProvider: this.sessions });
    this.bar = vscode.window.createStatusBarItem('precis.status', vscode.StatusBarAlignment.Right, 90);
    this.bar.name = 'Precis';
    this.model = new Model(this.api, context.workspaceState.get<string>(followedKey), () => this.show(this.model.state));
    this.owned.push(this.tree, this.bar, this.sessions);
    this.command('condense', (node) => this.condense(node));
    this.command('condenseUpTo', (node) => this.condenseUpTo(node));
    this.command('undo', (node) => this.undo(node));
    this.command('pin', (node) => this.pin(node));
    this.command('openDashboard', (node) => this.open(node));
    this.command('follow', (node) => this.follow(node));
    this.command('followNewest', () => this.followNewest());
    this.command('refresh', () => this.model.refresh());
    this.command('setSecret', () => this.setSecret());
    this.owned.push(
      vscode.window.onDidChangeWindowState((state) => (state.focused ? this.model.start() : this.model.stop())),
      vscode.workspace.onDidChangeConfiguration((e) => {
        if (e.affectsConfiguration('precis')) {
          this.reconnect();
        }
      }),
    );
  }

  begin(): void {
    const ages = setInterval(() => {
      if (this.model.running) {
        this.sessions.set(this.model.state);
      }
    }, 60_000);
    this.owned.push(new vscode.Disposable(() => clearInterval(ages)));
    if (vscode.window.state.focused) {
      this.model.start();
    }
  }

  dispose(): void {
    this.model.stop();
    for (const one of this.owned) {
      one.dispose();
    }
  }

  private command(name: string, run: (node?: Node | string) => unknown): void {
    this.owned.push(vscode.commands.registerCommand(`precis.${name}`, async (node?: Node | string) => {
      try {
        await run(node);
      } catch (err) {
        this.complain(err);
      }
    }));
  }

  private connect(): Api {
    let at: string;
    try {
      at = address();
    } catch (err) {
      this.complain(err);
      at = defaultAddress;
    }
    return new Api(at, () => this.credentials(at));
  }

  private reconnect(): void {
    this.api = this.connect();
    this.model.use(this.api);
  }

  /**
   * Returns what proves to an address who asks: the secret that was set for it, else, on
   * this machine alone, that of precis's own file.
   */
  private async credentials(at: string): Promise<Credentials> {
    const set = await this.context.secrets.get(secretKey(at));
    if (set) {
      return { key: set, local: set };
    }
    const local = isLoopback(at) ? await readSecret(secretPath()) : '';
    return local ? { local } : {};
  }

  /** Runs what changes something. The file with the secret is made when it is missing. */
  private async change<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (err) {
      const { address: at } = this.api;
      const refused = err instanceof PrecisError && err.code === 'forbidden';
      if (!refused || !isLoopback(at) || (await this.credentials(at)).local || !(await makeSecret(secretPath()))) {
        throw err;
      }
      return run();
    }
  }

  private show(state: State): void {
    this.sessions.set(state);
    this.tree.message = this.message(state);
    const text = state.followed ? format.statusText(t, state.followed, state.settings) : '';
    if (!state.followed || text === '') {
      this.bar.hide();
      return;
    }
    this.bar.text = text;
    this.bar.tooltip = format.statusTooltip(t, state.followed, vscode.env.language);
    this.bar.backgroundColor = format.warns(state.followed, state.settings) ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.bar.command = { command: 'precis.condense', title: t('Condense'), arguments: [state.followed.id] };
    this.bar.show();
  }

  /** Returns what stands above the tree: why it is empty. */
  private message(state: State): string | undefined {
    if (!state.known) {
      return undefined;
    }
    if (!state.error) {
      return state.conversations.length === 0 ? t('precis has no conversations yet.') : undefined;
    }
    return this.explain(state.error);
  }

  /** Returns what went wrong, and what can be done about it. */
  private explain(err: PrecisError): string {
    const text = this.errorText(err);
    const hint = this.hint(err);
    if (hint === '') {
      return text;
    }
    return /[.!?。]$/.test(text) ? `${text} ${hint}` : `${text}; ${hint}`;
  }

  private errorText(err: PrecisError): string {
    return err.code === 'unreachable' ? t('precis does not answer at {0}.', this.api.address) : format.plain(err.message, 500);
  }

  private hint(err: PrecisError): string {
    switch (err.code) {
      case 'unreachable':
        return t('Start `precis gateway` or `precis serve`.');
      case 'unauthorized':
      case 'forbidden':
        return t('run the command "Precis: Set Secret"');
      default:
        return format.plain(err.hint, 500);
    }
  }

  private complain(err: unknown): void {
    if (err instanceof PrecisError && err.code === 'canceled') {
      return;
    }
    const known = err instanceof PrecisError ? err : new PrecisError('internal', String(err));
    void vscode.window.showErrorMessage(format.withoutLinks(this.explain(known)));
  }

  private say(text: string): void {
    void vscode.window.showInformationMessage(format.withoutLinks(text));
  }

  /** Returns the conversation that a command is about; asks where several may be meant. */
  private async chosen(node?: Node | string): Promise<{ id: string; title: string } | undefined> {
    if (typeof node === 'string') {
      return this.named(node);
    }
    if (node?.conversation) {
      return this.named(node.conversation.id);
    }
    await this.model.refresh();
    const { conversations, followed, error } = this.model.state;
    if (error) {
      throw error;
    }
    if (conversations.length === 0) {
      throw new PrecisError('not_found', t('precis has no conversations yet.'));
    }
    const first = conversations.filter((c) => c.id === followed?.id);
    const all: Listed[] = [...(first.length > 0 ? first : followed ? [followed] : []), ...conversations.filter((c) => c.id !== followed?.id)];
    if (all.length === 1) {
      return this.named(all[0]!.id);
    }
    const now = Date.now();
    const items = all.map((c) => ({
      label: format.withoutIcons(format.plain(format.title(c), 56)),
      description: `${format.percent(c.percent)} · ${format.age(c.updated, now, vscode.env.language)}`,
      id: c.id,
    }));
    const picked = await vscode.window.showQuickPick(items, { placeHolder: t('Which conversation?'), matchOnDescription: true });
    return picked && this.named(picked.id);
  }

  private named(id: string): { id: string; title: string } {
    const { conversations, followed } = this.model.state;
    const known = conversations.find((c) => c.id === id) ?? (followed?.id === id ? followed : undefined);
    return { id, title: known ? format.title(known) : id };
  }

  private async condense(node?: Node | string): Promise<void> {
    const about = await this.chosen(node);
    if (about) {
      await this.run(about, {});
    }
  }

  private async condenseUpTo(node?: Node | string): Promise<void> {
    const about = await this.chosen(node);
    if (!about) {
      return;
    }
    const messages = await this.api.messages(about.id);
    const picked = await this.pickMessage(format.ends(messages), t('Condense up to which message, included?'));
    if (picked) {
      await this.run(about, { from: 0, to: picked.index + 1 });
    }
  }

  private async pickMessage(messages: Message[], placeHolder: string): Promise<format.Choice | undefined> {
    return vscode.window.showQuickPick(format.choices(t, messages, vscode.env.language).reverse(), { placeHolder, matchOnDescription: true });
  }

  /** Previews a condensation, asks, and does it. What would lose something asks again. */
  private async run(about: { id: string; title: string }, what: CondenseRequest): Promise<void> {
    const preview = await this.progress(t('precis previews'), (signal) => this.api.preview(about.id, what, signal));
    if (!preview.changed) {
      await this.nothing(about, what, preview);
      return;
    }
    const yes = t('Condense');
    const open = t('Open Dashboard');
    const detail = format.previewText(t, preview, vscode.env.language);
    const answer = await vscode.window.showInformationMessage(t('Condense "{0}"?', about.title), { modal: true, detail }, yes, open);
    if (answer === open) {
      await this.open(about.id);
    }
    if (answer !== yes) {
      return;
    }
    const done = await this.reallyCondense(about, what);
    if (done) {
      this.say(format.plain(done.report.outcome, 300));
      await this.model.refresh();
    }
  }

  /** Condenses. Where the answer is would_lose it lists that, and goes on by an explicit yes. */
  private async reallyCondense(about: { id: string; title: string }, what: CondenseRequest): Promise<Condensed | undefined> {
    const ask = (request: CondenseRequest) => this.progress(t('precis condenses'), (signal) => this.change(() => this.api.condense(about.id, request, signal)));
    try {
      return await ask(what);
    } catch (err) {
      if (!(err instanceof PrecisError) || err.code !== 'would_lose') {
        throw err;
      }
      const anyway = t('Do It All the Same');
      const detail = err.wouldLose ? format.goneLines(t, err.wouldLose, vscode.env.language).join('\n') : format.plain(err.message, 500);
      const answer = await vscode.window.showWarningMessage(t('Nothing was changed: it would take from the model what follows.'), { modal: true, detail }, anyway);
      return answer === anyway ? ask({ ...what, force: true }) : undefined;
    }
  }

  /** Says why a condensation would change nothing, and offers another target. */
  private async nothing(about: { id: string; title: string }, what: CondenseRequest, preview: Condensed): Promise<void> {
    const target = t('Choose a Target…');
    const ranged = what.to !== undefined;
    const answer = await vscode.window.showInformationMessage(
      t('Nothing to condense in "{0}".', about.title), { modal: true, detail: format.plain(preview.report.outcome, 500) }, ...(ranged ? [] : [target]),
    );
    if (answer !== target) {
      return;
    }
    const text = await vscode.window.showInputBox({ prompt: t('How far to come down: 20% of the window, or tokens: 20k'), value: what.target_tokens ?? '20%' });
    if (text?.trim()) {
      await this.run(about, { target_tokens: text.trim() });
    }
  }

  private async undo(node?: Node | string): Promise<void> {
    const about = await this.chosen(node);
    if (!about) {
      return;
    }
    const run = format.newestRun(await this.api.edits(about.id));
    if (run.length === 0) {
      this.say(t('There is nothing to undo.'));
      return;
    }
    const yes = t('Undo');
    const detail = format.undoText(t, run, vscode.env.language);
    const answer = await vscode.window.showInformationMessage(t('Undo the last condensation of "{0}"?', about.title), { modal: true, detail }, yes);
    if (answer === yes) {
      const { status } = await this.change(() => this.api.undo(about.id, run.map((e) => e.id)));
      this.say(t('Undone: {0} tokens, {1} of the window.', format.grouped(status.tokens, vscode.env.language), format.percent(status.percent)));
      await this.model.refresh();
    }
  }

  private async pin(node?: Node | string): Promise<void> {
    const about = await this.chosen(node);
    if (!about) {
      return;
    }
    const messages = (await this.api.messages(about.id)).filter((m) => !m.pinned);
    const picked = await this.pickMessage(messages, t('Pin which message? No later run hides or cuts it.'));
    if (picked) {
      await this.change(() => this.api.pin(about.id, [picked.message.handle]));
      this.say(t('{0} is pinned.', picked.message.handle));
      await this.model.refresh();
    }
  }

  private async open(node?: Node | string): Promise<void> {
    const id = typeof node === 'string' ? node : node?.conversation?.id;
    await vscode.env.openExternal(vscode.Uri.parse(this.api.page(id), true));
  }

  private async follow(node?: Node | string): Promise<void> {
    const about = await this.chosen(node);
    if (about) {
      await this.context.workspaceState.update(followedKey, about.id);
      await this.model.follow(about.id);
    }
  }

  private async followNewest(): Promise<void> {
    await this.context.workspaceState.update(followedKey, undefined);
    await this.model.follow(undefined);
  }

  private async setSecret(): Promise<void> {
    const at = this.api.address;
    const secret = await vscode.window.showInputBox({
      prompt: t('Key of the gateway at {0}, or the content of its file local-secret. Empty: none.', at), password: true, ignoreFocusOut: true,
      validateInput: (text) => (/^[!-~]*$/.test(text.trim()) ? undefined : t('That cannot be a key.')),
    });
    if (secret === undefined) {
      return;
    }
    if (secret.trim() === '') {
      await this.context.secrets.delete(secretKey(at));
    } else {
      await this.context.secrets.store(secretKey(at), secret.trim());
    }
    this.reconnect();
  }

  private async progress<T>(title: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      return run(stop.signal);
    });
  }
}

/** A secret is kept for one address, so that another one never gets it. */
function secretKey(at: string): string {
  return `precis.secret ${at}`;
}
