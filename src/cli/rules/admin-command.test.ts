import { expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { recordingContext } from '../../../test/story/command-context.ts'
import { createMemberRepository } from '../../access/people/member-repository.ts'
import { createMembers } from '../../access/people/members.ts'
import { bootstrap } from '../../access/bootstrap.ts'
import { createKeyRepository } from '../../access/key-repository.ts'
import { createKeys } from '../../access/keys.ts'
import { createOrganizationRepository } from '../../access/organization-repository.ts'
import { systemClock } from '../../core/clock.ts'
import type { CliStorage } from '../context.ts'
import { runCommand } from '../run.ts'

eachDatabase((name, _, { openFresh }) => {
  async function firstStart() {
    const { database } = await openFresh()
    const clock = systemClock
    const organizations = createOrganizationRepository(database)
    const keyRepository = createKeyRepository(database)
    const nothing = { creditsNanocredits: null, key: null, managementKey: null }
    await bootstrap(nothing, { organizations, keys: keyRepository, clock })
    const keys = createKeys({ repository: keyRepository, clock, onChange: () => undefined })
    const members = createMembers({
      repository: createMemberRepository(database),
      keyRepository,
      keys,
      clock,
    })
    const storage = { organizations, members, close: () => Promise.resolve() } as unknown as CliStorage
    const run = async (args: string, env: Record<string, string> = {}) => {
      const context = recordingContext({ openStorage: () => Promise.resolve(storage), env })
      const code = await runCommand(['admin', ...args.split(' ')], context)
      return { code, output: context.output(), errors: context.errors() }
    }
    return { run }
  }
  const whoIn = (errors: string) => /UTC: (.*) \((member_\w+)\)/.exec(errors)?.slice(1) ?? []

  test(`on ${name}, admin link prints the link alone on stdout, and again for the same admin`, async () => {
    const { run } = await firstStart()
    const first = await run('link')
    expect([first.code, first.output]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ui\/#sign-in=hr-link-[0-9a-z]{64}\n$/),
    ])
    const again = await run('link --role admin', { HEADRACE_URL: 'https://ai.example.com/gate/v1' })
    expect(again.output).toMatch(/^https:\/\/ai\.example\.com\/gate\/ui\/#sign-in=hr-link-/)
    expect(whoIn(again.errors)).toEqual(whoIn(first.errors))
    expect(again.output.split('#')[1]).not.toBe(first.output.split('#')[1])
  })

  test(`on ${name}, a role and an email make somebody, whom the email finds again`, async () => {
    const { run } = await firstStart()
    const viewer = await run('link --role viewer --email Ann@Example.com')
    expect(whoIn(viewer.errors)[0]).toBe('viewer, ann@example.com')
    expect(whoIn((await run('link --email ann@example.com')).errors)).toEqual(whoIn(viewer.errors))
    const other = await run('link --role admin --email ann@example.com')
    expect([other.code, other.output, other.errors]).toEqual([
      1,
      '',
      expect.stringContaining('This person is viewer'),
    ])
    // Without an email each is somebody new.
    const [one, two] = [await run('link --role member'), await run('link --role member')]
    expect(whoIn(one.errors)[1]).not.toBe(whoIn(two.errors)[1])
  })

  test(`on ${name}, what it does not know is refused with the words it knows`, async () => {
    const { run } = await firstStart()
    expect((await run('link --role owner')).errors).toContain('there are viewer, member, admin')
    expect((await run('link --email nobody')).errors).toContain('is not an email address')
    expect((await run('links')).errors).toContain('There is no "admin links"')
  })
})
