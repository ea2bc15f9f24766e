import { litellmClients, npmClients, type Client } from './clients.ts'
import type { PackageSet } from './packages.ts'
import { embeddingModel, geminiModel, messagesModel, responsesModel } from './world.ts'

/** Frameworks of Python; one folder holds them all. */
export const pythonFrameworks: PackageSet = {
  name: 'python-frameworks',
  registry: 'python',
  versions: {
    langchain: '1.4.7',
    'langchain-openai': '1.7.3',
    'pydantic-ai': '2.31.1',
    instructor: '1.16.0',
    llm: '0.32.1',
    'openai-agents': '0.20.0',
    smolagents: '1.26.0',
    'llama-index-core': '0.14.25',
    'llama-index-llms-openai-like': '0.8.1',
    'llama-index-embeddings-openai': '0.7.0',
    'haystack-ai': '3.4.0',
    dspy: '3.4.1',
  },
}

/** The columns of the table, and which cases of the programs each of them is. */
export const columns = {
  chat: ['chat'],
  stream: ['stream'],
  'tool loop': ['tool loop', 'tools'],
  'structured output': ['structured'],
  embeddings: ['embeddings'],
  errors: ['unknown model', 'upstream 429', 'upstream 500'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** A column of the table. */
export type Column = keyof typeof columns

/** A framework, as the table of clients shows it. */
export interface Framework {
  name: string
  /** As its page of packages calls it; its version is the set's. */
  package: string
  packages: PackageSet
  program: readonly string[]
  /** What the framework has no way to ask for, and why the cell is empty. */
  lacks: Readonly<Partial<Record<Column, string>>>
}

const noEmbeddings = { embeddings: 'it has no call for vectors' }

function python(name: string, packageName: string, file: string, lacks: Framework['lacks'] = {}): Framework {
  return { name, package: packageName, packages: pythonFrameworks, program: [file], lacks }
}

function aiSdk(wire: 'chat' | 'responses'): Framework {
  return {
    name: `AI SDK, ${wire}`,
    package: 'ai',
    packages: npmClients,
    program: ['ai-sdk.mjs', wire],
    lacks: {},
  }
}

/** Every framework in the order of the table. */
export const frameworks: readonly Framework[] = [
  python('LangChain', 'langchain', 'langchain_agents.py'),
  python('Pydantic AI', 'pydantic-ai', 'pydantic_ai_agent.py'),
  python('Instructor', 'instructor', 'instructor_forms.py', noEmbeddings),
  python('LLM', 'llm', 'llm_models.py'),
  python('OpenAI Agents', 'openai-agents', 'openai_agents_py.py', noEmbeddings),
  python('smolagents', 'smolagents', 'smolagents_agent.py', noEmbeddings),
  python('LlamaIndex', 'llama-index-core', 'llama_index_agent.py'),
  python('Haystack', 'haystack-ai', 'haystack_agent.py'),
  python('DSPy', 'dspy', 'dspy_program.py'),
  aiSdk('chat'),
  aiSdk('responses'),
  {
    name: 'LiteLLM',
    package: 'litellm',
    packages: litellmClients,
    program: ['litellm_loop.py'],
    lacks: {},
  },
]

/** The formats of providers that a framework's calls are translated to. */
export const foreignUpstreams = [
  { mount: 'messages', model: messagesModel },
  { mount: 'responses', model: responsesModel },
  { mount: 'gemini', model: geminiModel },
] as const

/** The framework as a client whose calls reach that provider. */
export function clientOf(
  { name, packages, program }: Framework,
  { mount, model }: (typeof foreignUpstreams)[number],
): Client {
  return { name, packages, program, mount, model, embeddingModel, sealsThoughts: true }
}

const columnNames = Object.keys(columns) as Column[]

/** The table of the page about clients: which version is run, and what is asked of it. */
export function frameworksTable(): string {
  const rows = frameworks.map((framework) => {
    const { name, package: packageName, packages, lacks } = framework
    const cells = columnNames.map((column) =>
      lacks[column] === undefined ? 'run' : `none: ${lacks[column]}`,
    )
    return [name, `\`${packageName}\` ${packages.versions[packageName]}`, ...cells]
  })
  const lines = [['Framework', 'Package', ...columnNames], ['', '', ...columnNames].map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
