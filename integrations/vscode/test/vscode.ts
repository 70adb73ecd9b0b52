// A stand-in for the module vscode: as much of it as the extension uses. Tests answer its
// dialogs and read what it shows.

type Listener<T> = (event: T) => unknown;

export class Disposable {
  constructor(private readonly run: () => void) {}
  dispose(): void {
    this.run();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(event: T): void {
    for (const listener of this.listeners) {
      listener(event);
    }
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class TreeItem {
  id?: string;
  description?: string;
  tooltip?: string;
  contextValue?: string;
  iconPath?: ThemeIcon;
  command?: { command: string };
  constructor(readonly label: string, readonly collapsibleState = 0) {}
}

export class Uri {
  private constructor(private readonly text: string) {}
  static parse(text: string): Uri {
    return new Uri(text);
  }
  toString(): string {
    return this.text;
  }
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const TreeItemCollapsibleState = { None: 0 };
export const ProgressLocation = { Notification: 15 };

export interface StatusBarItem {
  text: string;
  tooltip?: string;
  backgroundColor?: ThemeColor;
  command?: { command: string; arguments: unknown[] };
  shown: boolean;
}

export interface Dialog {
  kind: 'information' | 'warning' | 'error';
  text: string;
  detail?: string;
  modal: boolean;
  buttons: string[];
}

interface Provider {
  getChildren(): unknown[];
  getTreeItem(node: unknown): TreeItem;
}

interface Pick {
  label: string;
}

/** What tests set and read. */
export const fake = {
  commands: new Map<string, (...args: unknown[]) => Promise<unknown>>(),
  dialogs: [] as Dialog[],
  /** Returns the button that the user presses in a dialog. */
  press: (_: Dialog): string | undefined => undefined,
  picks: [] as Pick[][],
  pick: (_: Pick[]): Pick | undefined => undefined,
  inputs: [] as { password?: boolean; prompt?: string }[],
  input: undefined as string | undefined,
  opened: [] as string[],
  bar: undefined as StatusBarItem | undefined,
  tree: undefined as { provider: Provider; message?: string } | undefined,
  settings: new Map<string, unknown>(),
  focused: true,
  windowState: new EventEmitter<{ focused: boolean }>(),
  configuration: new EventEmitter<{ affectsConfiguration(section: string): boolean }>(),
  reset(): void {
    this.commands.clear();
    this.dialogs = [];
    this.press = () => undefined;
    this.picks = [];
    this.pick = () => undefined;
    this.inputs = [];
    this.input = undefined;
    this.opened = [];
    this.bar = undefined;
    this.tree = undefined;
    this.settings.clear();
    this.focused = true;
    this.windowState = new EventEmitter();
    this.configuration = new EventEmitter();
  },
  focus(focused: boolean): void {
    this.focused = focused;
    this.windowState.fire({ focused });
  },
  items(): TreeItem[] {
    const { provider } = this.tree!;
    return provider.getChildren().map((node) => provider.getTreeItem(node));
  },
  run(command: string, ...args: unknown[]): Promise<unknown> {
    return this.commands.get(command)!(...args);
  },
};

function show(kind: Dialog['kind']) {
  return async (text: string, ...rest: unknown[]): Promise<string | undefined> => {
    const options = typeof rest[0] === 'object' ? (rest.shift() as { modal?: boolean; detail?: string }) : {};
    const dialog: Dialog = { kind, text, modal: !!options.modal, buttons: rest as string[], ...(options.detail === undefined ? {} : { detail: options.detail }) };
    fake.dialogs.push(dialog);
    const pressed = fake.press(dialog);
    if (pressed !== undefined && !dialog.buttons.includes(pressed)) {
      throw new Error(`there is no button ${pressed}, but ${dialog.buttons.join(', ')}`);
    }
    return pressed;
  };
}

export const window = {
  get state() {
    return { focused: fake.focused };
  },
  onDidChangeWindowState: (listener: Listener<{ focused: boolean }>) => fake.windowState.event(listener),
  createStatusBarItem() {
    const item = { text: '', shown: false, show: () => { item.shown = true; }, hide: () => { item.shown = false; }, dispose: () => { item.shown = false; } };
    fake.bar = item;
    return item;
  },
  createTreeView(_: string, options: { treeDataProvider: Provider }) {
    const view = { provider: options.treeDataProvider, dispose: () => {} };
    fake.tree = view;
    return view;
  },
  showInformationMessage: show('information'),
  showWarningMessage: show('warning'),
  showErrorMessage: show('error'),
  async showQuickPick(items: Pick[]) {
    fake.picks.push(items);
    return fake.pick(items);
  },
  async showInputBox(options: { password?: boolean; prompt?: string; validateInput?: (text: string) => string | undefined }) {
    fake.inputs.push(options);
    return fake.input !== undefined && options.validateInput?.(fake.input) === undefined ? fake.input : undefined;
  },
  withProgress: (_: unknown, run: (progress: unknown, token: { onCancellationRequested(listener: () => void): Disposable }) => Promise<unknown>) =>
    run({}, { onCancellationRequested: () => new Disposable(() => {}) }),
};

export const workspace = {
  getConfiguration: (section: string) => ({ get: (name: string, otherwise: unknown) => fake.settings.get(`${section}.${name}`) ?? otherwise }),
  onDidChangeConfiguration: (listener: Listener<{ affectsConfiguration(section: string): boolean }>) => fake.configuration.event(listener),
};

export const commands = {
  registerCommand(name: string, run: (...args: unknown[]) => Promise<unknown>) {
    fake.commands.set(name, run);
    return new Disposable(() => fake.commands.delete(name));
  },
};

export const env = {
  language: 'en',
  async openExternal(uri: Uri) {
    fake.opened.push(uri.toString());
    return true;
  },
};

export const l10n = {
  t: (text: string, ...args: (string | number)[]) => text.replace(/\{(\d+)\}/g, (_, n: string) => String(args[Number(n)])),
};
