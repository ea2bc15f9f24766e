/** The authors of public ids, by Vertex AI's publishers. */
const authors: Readonly<Record<string, string>> = {
  'deepseek-ai': 'deepseek',
  meta: 'meta-llama',
  mistralai: 'mistralai',
  moonshotai: 'moonshotai',
  openai: 'openai',
  qwen: 'qwen',
  xai: 'x-ai',
  'zai-org': 'z-ai',
}

/** The public id of a model: `claude-sonnet-4-5@20250929` is `anthropic/claude-sonnet-4-5-20250929`; `-maas` is left out. */
export function publicNameOf(upstreamModel: string): string {
  const slash = upstreamModel.lastIndexOf('/')
  const publisher = upstreamModel.slice(0, Math.max(slash, 0))
  const name = upstreamModel.slice(slash + 1).replace(/-maas$/, '')
  if (name.startsWith('claude-')) return `anthropic/${name.replace('@', '-').replace(/-default$/, '')}`
  if (publisher === '' || publisher === 'google') return `google/${name}`
  return `${(Object.hasOwn(authors, publisher) && authors[publisher]) || publisher}/${name}`
}

/** Names have the publisher in front, except those of Google and Anthropic, whose publisher stands in the path. */
export function upstreamOf(id: string): string {
  const [author = '', slug = ''] = id.split('/', 2)
  if (author === 'google' || author === 'anthropic') return slug
  const publisher = Object.keys(authors).find((each) => authors[each] === author)
  return publisher === undefined ? id : `${publisher}/${slug}`
}
