import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'documents: tasks, one name for a variable, no contradiction, and a sandbox that hears what was said',
  tests: [
    {
      file: 'test/story/spoken-try.test.ts',
      names: ['headrace try transcribes the sentence that it made as speech'],
    },
    { file: 'test/story/readme.test.ts', names: ['one changed line is enough for the openai package'] },
    {
      file: 'test/story/tasks.test.ts',
      names: [
        'every command of the page of tasks works as described beside a running gateway',
        'every configuration of the page of tasks is read without a problem',
        'the page of tasks is the first that the README names, and has the usual tasks of operators',
        'no page names a variable that the gateway refuses, or another name for its key',
        "README's list of what does not exist yet names no provider of its table",
        'tables that are generated stand below the prose of the page of configuration',
        'a folder without Headrace has its command once the checkout was installed globally',
      ],
    },
  ],
})
