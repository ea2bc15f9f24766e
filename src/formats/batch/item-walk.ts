import { ObjectProof, type ProvenObject } from '../../json/proof.ts'

type MemberName = 'custom_id' | 'body' | 'model' | 'stream' | 'messages' | 'input'

/** A proven item and its members that ingest looks at; all but `custom_id` and `body` are those of the body. */
export type WalkedItem = ProvenObject<MemberName>

/** Proves items of a batch without building them. An item without proof is for `JSON.parse` to judge. */
export class ItemWalk extends ObjectProof<MemberName> {
  constructor() {
    super({
      members: ['custom_id', 'body'],
      inner: 'body',
      innerMembers: ['model', 'stream', 'messages', 'input'],
    })
  }
}
