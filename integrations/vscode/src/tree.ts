// The tree of sessions.

import * as vscode from 'vscode';
import type { Listed } from './api';
import * as format from './format';
import type { State } from './model';

/** A conversation, or, without one, the line that stands for those that are not listed. */
export interface Node {
  conversation?: Listed;
}

export class Sessions implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private state: State = { known: false, conversations: [], more: false };

  constructor(
    private readonly t: format.Translate,
    private readonly lang: string,
  ) {}

  set(state: State): void {
    this.state = state;
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }

  getChildren(node?: Node): Node[] {
    if (node) {
      return [];
    }
    const nodes: Node[] = this.state.conversations.map((conversation) => ({ conversation }));
    return this.state.more ? [...nodes, {}] : nodes;
  }

  getTreeItem({ conversation: c }: Node): vscode.TreeItem {
    if (!c) {
      const rest = new vscode.TreeItem(this.t('More in the dashboard'));
      rest.command = { command: 'precis.openDashboard', title: '' };
      rest.iconPath = new vscode.ThemeIcon('link-external');
      return rest;
    }
    const item = new vscode.TreeItem(format.shortTitle(c), vscode.TreeItemCollapsibleState.None);
    item.id = c.id;
    item.contextValue = 'conversation';
    item.description = [format.percent(c.percent), format.age(c.updated, Date.now(), this.lang)].filter((part) => part !== '').join(' · ');
    const followed = this.state.followed?.id === c.id;
    item.iconPath = new vscode.ThemeIcon(followed ? 'eye' : 'comment-discussion');
    item.tooltip = [
      format.title(c), c.model ? this.t('Model: {0}', format.plain(c.model)) : '', c.client ? this.t('Client: {0}', format.plain(c.client)) : '',
      this.t('{0} of {1} tokens', format.grouped(c.tokens, this.lang), format.grouped(c.window, this.lang)),
      this.t('{0} messages', format.grouped(c.messages, this.lang)), followed ? this.t('Shown in the status bar') : '',
    ].filter((line) => line !== '').join('\n');
    return item;
  }
}
