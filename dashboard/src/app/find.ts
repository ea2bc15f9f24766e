/** Where an id leads to. */
export interface Found {
  to: string
  word: string
}

const kinds: readonly { pattern: RegExp; path: string; word: string }[] = [
  { pattern: /^(req_|gen-)[\w-]+$/, path: '/requests/', word: 'Open the request' },
  { pattern: /^(batch_|msgbatch_)[\w-]+$/, path: '/batches/', word: 'Open the batch' },
  { pattern: /^(key_[\w-]+|[0-9a-f]{64})$/, path: '/keys/', word: 'Open the key' },
]

/** What a pasted id is, by its prefix; spaces and quotes around it are left out. Null for anything else. */
export function find(pasted: string): Found | null {
  const id = pasted.trim().replaceAll(/^["'`]+|["'`,]+$/g, '')
  for (const { pattern, path, word } of kinds) {
    if (pattern.test(id)) return { to: `${path}${id}`, word }
  }
  return null
}
