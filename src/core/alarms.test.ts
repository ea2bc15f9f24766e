import { expect, test } from 'bun:test'
import { Alarms } from './alarms.ts'

test('alarms ring once each, soonest first, whatever order they were set in', async () => {
  const alarms = new Alarms()
  const rung: string[] = []
  alarms.set(40, () => rung.push('late'))
  alarms.set(10, () => rung.push('soon'))
  alarms.set(25, () => rung.push('between'))
  await Bun.sleep(80)
  expect(rung).toEqual(['soon', 'between', 'late'])
})

test('an alarm that was called off is silent, and those after it ring', async () => {
  const alarms = new Alarms()
  const rung: string[] = []
  const first = alarms.set(10, () => rung.push('first'))
  alarms.set(20, () => rung.push('second'))
  alarms.callOff(first)
  alarms.callOff(first)
  await Bun.sleep(60)
  expect(rung).toEqual(['second'])
})

test('an alarm may set another, or call off one that is due at the same time', async () => {
  const alarms = new Alarms()
  const rung: string[] = []
  alarms.set(10, () => {
    rung.push('first')
    alarms.callOff(twin)
    alarms.set(5, () => rung.push('again'))
  })
  const twin = alarms.set(10, () => rung.push('twin'))
  await Bun.sleep(60)
  expect(rung).toEqual(['first', 'again'])
})
