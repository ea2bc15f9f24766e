import type { BatchEndpoint } from '../../canonical/batch.ts'

/** How the callers of one dialect write the items of a batch. An item is stored in the contract's form, whatever its dialect. */
export interface ItemForm {
  /** The route that idempotency keys belong to: the same bytes mean another batch in another form. */
  readonly route: string
  /** The member of an item that has its request. */
  readonly request: 'body' | 'params'
  /** The endpoint of every batch in this form; null where the batch names it. */
  readonly endpoint: BatchEndpoint | null
  /** Whether each item names the model, because the batch has no member for it. */
  readonly namesModel: boolean
  /** Whether the items may name several models. */
  readonly mixesModels: boolean
  /** Whether the items are the lines of a file, each of which says where it is to be sent. */
  readonly isLines: boolean
  /** The top-level members that mean something in this form; others are ignored. */
  readonly members: ReadonlySet<string>
}

/** The contract's own form. */
export const contractForm: ItemForm = {
  route: 'POST /batches',
  request: 'body',
  endpoint: null,
  namesModel: false,
  mixesModels: false,
  isLines: false,
  members: new Set(['endpoint', 'model', 'completion_window', 'callback_url', 'provider', 'headrace']),
}

/** The contract's form for items of several models, which name them; the gateway alone writes it. */
export const mixedForm: ItemForm = {
  ...contractForm,
  namesModel: true,
  mixesModels: true,
  members: new Set(['endpoint', 'completion_window', 'callback_url', 'provider', 'headrace']),
}

/** The form of Anthropic's message batches, with the gateway's own members beside `requests`. */
export const messagesForm: ItemForm = {
  route: 'POST /messages/batches',
  request: 'params',
  endpoint: '/v1/messages',
  namesModel: true,
  mixesModels: true,
  isLines: false,
  members: new Set(['provider', 'headrace']),
}

/** The form of OpenAI's batches: the lines of a file; what the batch says of itself comes beside the file. */
export const linesForm: ItemForm = {
  route: 'POST /openai/batches',
  request: 'body',
  endpoint: null,
  namesModel: true,
  mixesModels: false,
  isLines: true,
  members: new Set(['endpoint', 'completion_window', 'callback_url', 'provider', 'headrace']),
}
