import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readText, rootFolder, type Finding } from './sources.ts'

/** A group of tests as a proof names them: a file, and the beginnings of their names. */
const groupPattern = /file: '([^']+)',\s*names: \[([\s\S]*?)\]/g
const textPattern = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g
const placeholder = /%[sdpijfo#]|\$\{[^}]*\}|\$[\w.]+/

/**
 * Tests that a proof names and that its file does not have, for instance since they were renamed. A vendor that was
 * deleted took its tests along, which is no mistake: a vendor is a folder and a line.
 */
export function checkProofNames(file: string, text: string): Finding[] {
  return [...text.matchAll(groupPattern)].flatMap(({ 1: tested = '', 2: list = '', index }) => {
    if (isOfDeletedVendor(tested)) return []
    const titles = existsSync(join(rootFolder, tested)) ? textsOf(readText(tested)) : []
    return textsOf(list)
      .filter((name) => !titles.some((title) => mayBegin(title, name)))
      .map((name) => ({
        rule: 'proof-name',
        file,
        line: text.slice(0, index).split('\n').length,
        problem: `${tested} has no test "${name}"`,
        remedy: 'Name the test as it is called now.',
      }))
  })
}

function isOfDeletedVendor(tested: string): boolean {
  return tested.startsWith('src/providers/') && !existsSync(join(rootFolder, dirname(tested)))
}

function textsOf(source: string): string[] {
  return [...source.matchAll(textPattern)].map(([, plain, template, double]) =>
    (plain ?? template ?? double ?? '').replaceAll(String.raw`\'`, "'"),
  )
}

/** Whether a title, of which rows may fill in parts, can begin with this name. */
function mayBegin(title: string, name: string): boolean {
  const [first = '', ...rest] = title.split(placeholder)
  if (rest.length === 0) return title.startsWith(name)
  // The proof itself may put the row's part before the name.
  if (rest.some((part) => part.includes(name))) return true
  if (first.length >= name.length) return first.startsWith(name)
  if (!name.startsWith(first)) return false
  // What a row fills in is not known; what follows it must be in the name, as far as the name goes.
  const next =
    rest
      .find((part) => part.trim() !== '')
      ?.trim()
      .slice(0, 8) ?? ''
  return first.trim().length >= 8 || (next !== '' && name.includes(next))
}
