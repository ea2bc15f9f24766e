import { join } from 'node:path'

/** Words by which the simulated model knows the task. */
export const marker = 'TASK-TWENTY-TURNS'
/** The model's last words. */
export const lastWords = 'All twenty turns are done.'
export const turnCount = 20

/** A turn as the simulator takes it. */
export interface Turn {
  thinking?: string
  text?: string
  tool_calls?: { name: string; arguments: Record<string, unknown> }[]
}

/** A task of twenty turns for one agent, and what must be true when it is done. */
export interface AgentTask {
  turns: readonly Turn[]
  /** By name, in the folder of the work. */
  files: Readonly<Record<string, string>>
  /** Words that the results of the tools have, one for each call in order. */
  results: readonly string[]
}

const notes = [1, 2, 3, 4, 5] as const
/** Letters of several bytes, quotes and line ends, long enough for many pieces; Claude Code takes away blanks at an end of a line. */
const long = `Grüße "aus" C:\\mühle\n${'水は低きに流れる – the headrace 💧 '.repeat(120).trimEnd()}\n`

/** Fifteen turns of files, four of commands, and the last words; every third note's turn has no thoughts. */
export function claudeTask(folder: string): AgentTask {
  const path = (name: string) => join(folder, name)
  const turns: Turn[] = notes.flatMap((note): Turn[] => [
    {
      thinking: `Note ${note} has to be written.`,
      text: `Writing note ${note}.`,
      tool_calls: [
        { name: 'Write', arguments: { file_path: path(`note-${note}.txt`), content: `line ${note}\n` } },
      ],
    },
    {
      thinking: `Note ${note} has to be read.`,
      tool_calls: [{ name: 'Read', arguments: { file_path: path(`note-${note}.txt`) } }],
    },
    {
      tool_calls: [
        {
          name: 'Edit',
          arguments: {
            file_path: path(`note-${note}.txt`),
            old_string: `line ${note}`,
            new_string: `row ${note}`,
          },
        },
      ],
    },
  ])
  const bash = (command: string) => ({ name: 'Bash', arguments: { command, description: 'Works' } })
  turns.push(
    { thinking: 'All at once.', tool_calls: [bash('cat note-1.txt note-2.txt'), bash('echo second')] },
    { tool_calls: [{ name: 'Write', arguments: { file_path: path('long.txt'), content: long } }] },
    {
      thinking: 'This one is not there.',
      tool_calls: [{ name: 'Read', arguments: { file_path: path('gone.txt') } }],
    },
    { tool_calls: [bash('cat note-*.txt > all.txt; wc -l all.txt')] },
    { text: lastWords },
  )
  return {
    turns,
    files: {
      ...Object.fromEntries(notes.map((note) => [`note-${note}.txt`, `row ${note}\n`])),
      'all.txt': notes.map((note) => `row ${note}\n`).join(''),
      'long.txt': long,
    },
    results: [
      ...notes.flatMap((note) => ['created', `line ${note}`, 'updated']),
      'row 1\nrow 2',
      'second',
      'created',
      'not exist',
      '5 all.txt',
    ],
  }
}

/** The same by commands alone, with one that fails and an image that is looked at. */
export function codexTask(folder: string): AgentTask {
  const run = (cmd: string) => ({ name: 'exec_command', arguments: { cmd } })
  const turns: Turn[] = notes.flatMap((note): Turn[] => [
    {
      thinking: `Note ${note} has to be written.`,
      text: `Writing note ${note}.`,
      tool_calls: [run(`printf 'line ${note}\\n' > note-${note}.txt && echo written`)],
    },
    { thinking: `Note ${note} has to be read.`, tool_calls: [run(`cat note-${note}.txt`)] },
    { tool_calls: [run(`sed -i 's/line/row/' note-${note}.txt && echo updated`)] },
  ])
  turns.push(
    { thinking: 'All at once.', tool_calls: [run('cat note-1.txt note-2.txt'), run('echo second')] },
    { tool_calls: [run(`cat > long.txt <<'END'\n${long}END\necho created`)] },
    { thinking: 'This one is not there.', tool_calls: [run('cat gone.txt')] },
    {
      tool_calls: [
        { name: 'view_image', arguments: { path: join(folder, 'dot.png') } },
        run('cat note-*.txt > all.txt; wc -l all.txt'),
      ],
    },
    { text: lastWords },
  )
  return {
    turns,
    files: {
      ...Object.fromEntries(notes.map((note) => [`note-${note}.txt`, `row ${note}\n`])),
      'all.txt': notes.map((note) => `row ${note}\n`).join(''),
      'long.txt': long,
    },
    results: [
      ...notes.flatMap((note) => ['written', `line ${note}`, 'updated']),
      'row 1\nrow 2',
      'second',
      'created',
      'No such file',
      imageResult,
      '5 all.txt',
    ],
  }
}

/** What stands for a result that is an image. */
export const imageResult = '(image)'

/** One white pixel. */
export const dotPng = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC',
  'base64',
)
