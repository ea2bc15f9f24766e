import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Resemble’s length, MiniMax’s unknown voice, Fireworks’ hosts, Rev AI’s spent credit',
  tests: [
    { file: 'src/providers/resemble/contract.test.ts', names: ['Resemble streams at most 2,000 characters'] },
    {
      file: 'src/providers/minimax/contract.test.ts',
      names: ['MiniMax’s word for an unknown voice is the caller’s fault'],
    },
    {
      file: 'src/providers/revai/contract.test.ts',
      names: ['Rev AI’s 403 for spent credit is reported as such, and not as a refused credential'],
    },
    { file: 'src/providers/openai-audio.test.ts', names: ['of fireworks for whisper-v3'] },
  ],
})
