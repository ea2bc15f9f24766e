import { contractForm, type ItemForm } from './item-form.ts'
import { ObjectProof, type ProvenObject } from '../../json/proof.ts'

type MemberName =
  | 'custom_id'
  | 'body'
  | 'params'
  | 'method'
  | 'url'
  | 'model'
  | 'stream'
  | 'messages'
  | 'input'

/** A proven item and its members that ingest looks at; all but `custom_id`, `method`, `url` and the request itself are those of the request. */
export type WalkedItem = ProvenObject<MemberName>

/**
 * Proves that items of a batch are valid JSON, without building their values. `JSON.parse` judges the items that this
 * cannot prove.
 */
export class ItemWalk extends ObjectProof<MemberName> {
  constructor({ request, isLines }: Pick<ItemForm, 'request' | 'isLines'> = contractForm) {
    super({
      members: isLines ? ['custom_id', 'method', 'url', request] : ['custom_id', request],
      inner: request,
      innerMembers: ['model', 'stream', 'messages', 'input'],
    })
  }
}
