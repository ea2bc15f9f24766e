import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the simulated model says and is asked, which the programs know from the same file. */
export interface Task {
  tools: {
    prompt: string
    weather: object[]
    convert: object[]
    results: Record<string, string>
    text: string
  }
  stream: { prompt: string; text: string }
  structured: { prompt: string; value: object }
  final: { prompt: string }
  errors: { limited: string; broken: string; cut: string }
}

/** The task as the file of the programs has it. */
export function readTask(): Task {
  return JSON.parse(readFileSync(join(import.meta.dir, 'programs/task.json'), 'utf8')) as Task
}

/** The turns that the simulated model says to each prompt of the task. */
export function scriptsOf({ tools, stream, structured, final, errors }: Task): object[] {
  const [first, second] = tools.weather
  const [conversion] = tools.convert
  const turns = [
    {
      thinking: 'Both cities have to be asked for.',
      text: 'Let me look.',
      tool_calls: [
        { name: 'weather', arguments: first },
        { name: 'weather', arguments: second },
      ],
    },
    { thinking: 'Now in Fahrenheit.', tool_calls: [{ name: 'convert', arguments: conversion }] },
    { tool_calls: [{ name: 'note', arguments: {} }] },
    { text: tools.text },
  ]
  const marked = (prompt: string) => ({ marker: /^[A-Z]+-[A-Z]+/.exec(prompt)?.[0] })
  return [
    { match: marked(tools.prompt), turns },
    // Some agents end by a tool of their own.
    {
      match: marked(final.prompt),
      turns: [
        ...turns.slice(0, -1),
        { tool_calls: [{ name: 'final_answer', arguments: { answer: tools.text } }] },
      ],
    },
    { match: marked(stream.prompt), turns: [{ text: stream.text }] },
    { match: marked(structured.prompt), turns: [{ text: JSON.stringify(structured.value) }] },
    { match: marked(errors.cut), turns: [{ text: stream.text }] },
  ]
}

/** What goes wrong at the provider for the prompts that ask for it. */
export function faultsOf({ errors }: Task): object[] {
  return [
    { match: { body_contains: errors.limited }, fault: 'status=429' },
    { match: { body_contains: errors.broken }, fault: 'status=500' },
    { match: { body_contains: errors.cut }, fault: 'error_chunk=8,chunk_delay=20' },
  ]
}
