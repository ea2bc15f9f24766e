import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import { createBilling } from '../../src/billing/billing.ts'
import { creditsBudget } from '../../src/billing/budgets/budget-ids.ts'
import { createInvariantsRepository } from '../../src/billing/ledger/invariants-repository.ts'
import { checkInvariants } from '../../src/billing/ledger/invariants.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import { insertOrganization } from '../simulation/billing-fixtures.ts'
import { eachDatabase } from '../support/databases.ts'

const program = join(import.meta.dir, 'money-process.ts')
const processCount = 4
const askedEach = 125

interface Answer {
  granted: number
  captured: number
}

/** One real process of `money-process.ts`, its output line by line. */
class MoneyProcess {
  readonly child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #reader: { read(): Promise<{ value?: Uint8Array | undefined; done: boolean }> }
  #text = ''

  constructor(url: string, name: string) {
    this.child = Bun.spawn([process.execPath, program, url, name, String(askedEach)], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    this.#reader = this.child.stdout.getReader()
  }

  async line(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf('\n')
      if (end >= 0) {
        const line = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 1)
        return line
      }
      const { value, done } = await this.#reader.read()
      if (done) throw new Error('the process ended early')
      this.#text += new TextDecoder().decode(value)
    }
  }

  begin(): void {
    void this.child.stdin.write('go\n')
    void this.child.stdin.flush()
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

eachDatabase((_name, _open, { openFresh }) => {
  test('four processes grant exactly 100 of 500 calls, and what they held when killed returns', async () => {
    const { database, url } = await openFresh()
    await insertOrganization(database)
    const ledger = createLedger(database)
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    const grant = {
      organizationId: 'org_a',
      amountNanocredits: 1_000n,
      transactionId: 'grant-1',
      createdAtMs: 1,
    }
    await accounts.grantCredits(grant)
    const processes = Array.from({ length: processCount }, (_, index) => new MoneyProcess(url, `p${index}`))
    onTestFinished(() => {
      for (const each of processes) each.child.kill('SIGKILL')
    })
    for (const each of processes) expect(await each.line()).toBe('ready')
    for (const each of processes) each.begin()
    const answers = await Promise.all(processes.map(async (each) => JSON.parse(await each.line()) as Answer))
    const captured = answers.reduce((sum, answer) => sum + answer.captured, 0)
    expect(answers.reduce((sum, answer) => sum + answer.granted, 0)).toBe(100)
    expect((await accounts.readCredits('org_a')).totalUsage).toBe(BigInt(captured) * 10n)
    await Promise.all(processes.map((each) => each.kill()))
    const billing = createBilling({ ledger })
    const repository = createInvariantsRepository(database)
    expect((await checkInvariants(repository)).filter(isUnsound)).toEqual([])
    const left = 1_000n - BigInt(captured) * 10n
    await untilGranted(
      () => billing.rounds.reap(),
      async () => ledger.hasLeases('credits:org_a'),
    )
    expect((await billing.hold({ budgets: [creditsBudget('org_a')], amount: left })).amount).toBe(left)
    expect(await checkInvariants(repository)).toEqual([])
  }, 60_000)
})

function isUnsound(finding: { invariant: string }): boolean {
  // The processes were just killed, so their holds are waiting to be reaped.
  return finding.invariant !== 'holds have an owner'
}

/** Reaps until the dead are known dead: a server notices a broken connection a moment later than the file lock. */
async function untilGranted(reap: () => Promise<void>, isLeased: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await reap()
    if (!(await isLeased())) return
    await Bun.sleep(100)
  }
}
