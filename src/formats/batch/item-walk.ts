import { ObjectProof, type ProvenObject } from '../../json/proof.ts'

type MemberName = 'custom_id' | 'body' | 'model' | 'stream' | 'messages' | 'input'

/** A proven item and its members that ingest looks at; all but `custom_id` and `body` are those of the body. */
export type WalkedItem = ProvenObject<MemberName>

/**
 * Proves that items of a batch are valid JSON, without building their values. `JSON.parse` judges the items that this
 * cannot prove.
 */
export class ItemWalk extends ObjectProof<MemberName> {
  constructor() {
    super({
      members: ['custom_id', 'body'],
      inner: 'body',
      innerMembers: ['model', 'stream', 'messages', 'input'],
    })
  }
}
