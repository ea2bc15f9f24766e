import { expect, test } from 'bun:test'
import { ChatEnd } from './pass-stream-end.ts'

type Signals = Parameters<ChatEnd['tell']>[0][]

/** The state of the end after these signals. */
function after(...signals: Signals) {
  const end = new ChatEnd()
  for (const signal of signals) end.tell(signal)
  return { is: end.state, stage: end.stage, isBroken: end.whyBroken() !== null }
}

test('an end may come in every order that providers have', () => {
  const one: Signals = ['begin', 'chunk']
  const two: Signals = ['begin', 'begin', 'chunk']
  expect(after()).toEqual({ is: 'running', stage: 'running', isBroken: true })
  expect(after(...one)).toEqual({ is: 'running', stage: 'running', isBroken: true })
  expect(after(...one, 'finish')).toEqual({ is: 'finished', stage: 'running', isBroken: false })
  expect(after(...two, 'finish')).toEqual({ is: 'finishing', stage: 'running', isBroken: true })
  expect(after(...two, 'finish', 'terminator')).toEqual({
    is: 'terminated',
    stage: 'terminated',
    isBroken: false,
  })
  expect(after(...one, 'usage')).toEqual({ is: 'counted', stage: 'running', isBroken: true })
  expect(after(...one, 'usage', 'finish')).toMatchObject({ is: 'finished', isBroken: false })
})

test('usage by itself accounts for the choices that have ended, until another begins or goes on', () => {
  const accounted: Signals = ['begin', 'finish', 'chunk', 'usage', 'usage_alone']
  expect(after(...accounted)).toEqual({ is: 'accounted', stage: 'accounted', isBroken: false })
  expect(after(...accounted, 'chunk')).toMatchObject({ stage: 'running', isBroken: false })
  expect(after(...accounted, 'begin', 'chunk')).toMatchObject({ is: 'finishing', isBroken: true })
  expect(after('begin', 'begin', 'finish', 'usage', 'usage_alone')).toMatchObject({ is: 'finishing' })
  expect(after('begin', 'usage', 'usage_alone')).toMatchObject({ is: 'counted', stage: 'running' })
})

test('a terminator ends an answer that was counted or finished, and no other', () => {
  expect(after('begin', 'terminator')).toEqual({ is: 'given_up', stage: 'terminated', isBroken: true })
  expect(after('begin', 'terminator', 'finish')).toMatchObject({ is: 'terminated', isBroken: false })
  expect(after('begin', 'terminator', 'usage')).toMatchObject({ is: 'terminated' })
  // No answer began, so none ended.
  expect(after('usage', 'terminator')).toMatchObject({ is: 'terminated', isBroken: true })
})
