import type { Database, Row, Statement, Unit } from '../../storage/database.ts'

/**
 * Rows of one kind that are compared with a provider's listing; a listed thing without one of these rows counts as
 * unknown.
 */
const knownResourcesMax = 100_000
/** Processes that are checked for being dead in one look. */
const resourceOwnersMax = 1_000
import { commitPoints } from './resource-commit-points.ts'

/** The row that is written before the request that makes the thing is sent. */
export interface NewResource {
  resourceId: string
  kind: string
  deploymentId: string
  /** Reference of the credential, never the credential. */
  credentialId: string
  /** The id of the generation that it is made for, which operators read. */
  usedBy: string
  marker: string | null
}

/** A thing that this process has claimed for removal. `tries` fences: a later claim has another number. */
export interface ClaimedResource extends NewResource {
  /** Null when the provider's reply never came. */
  upstreamId: string | null
  /** How often it was claimed, this time included. */
  tries: number
  /** How often it was looked for while its id was not known, without a failure. */
  looks: number
  createdAtMs: number
  leftAtMs: number
}

/** Until when a removal rests, and why. */
export interface Postponed {
  waitMs: number
  reason: string
  isLook?: true
}

/** What is known of the things that bear one marker. */
export interface KnownOfMarker {
  /** Ids of things of the kind at this deployment that have a row, whatever their marker. */
  upstreamIds: readonly string[]
  /** Rows with the marker whose thing is still being made: its id may come yet. */
  making: number
  /** Rows with the marker that have no id and wait for removal. */
  lost: number
}

/** Owns the table `upstream_resources`. Times are the database's own. Rejects with `storage_unavailable`. */
export interface UpstreamResourceRepository {
  insert(resource: NewResource): Promise<void>
  /** The provider has named it. The things that it has taken in need no rows of their own any more. */
  name(resourceId: string, upstreamId: string, takenIn: readonly string[]): Promise<void>
  /** This process needs it no more; `upstreamId` is null where the process does not know it. */
  leave(resourceId: string, upstreamId: string | null): Promise<void>
  /** Nothing was made, so the row is deleted. */
  forget(resourceId: string): Promise<void>
  /** Leaves for removal what dead processes used or were removing. Returns the number of these processes. */
  freeOfDead(): Promise<number>
  /** Takes some that are due; no other process gets them for `leaseMs`. */
  claim(limit: number, leaseMs: number): Promise<ClaimedResource[]>
  /** It is gone at the provider. */
  removed(claimed: ClaimedResource): Promise<void>
  /** `isLook` counts it among the looks. */
  postpone(claimed: ClaimedResource, postponed: Postponed): Promise<void>
  /** It stays at the provider. The row says why for `keptMs`. */
  keep(claimed: ClaimedResource, reason: string, keptMs: number): Promise<void>
  /** Deletes rows of kept things whose time is over. */
  expireKept(limit: number): Promise<void>
  ofMarker(claimed: ClaimedResource): Promise<KnownOfMarker>
}

type Commit = (name: string, ...statements: Statement[]) => Promise<Row[][]>

export function createUpstreamResourceRepository(database: Database): UpstreamResourceRepository {
  const commit: Commit = (name, ...statements) => {
    const unit: Unit = { name, statements }
    return database.commit(unit)
  }
  return {
    ...forCalls(database, commit),
    ...forClaims(database, commit),
    ...forEndings(commit),
  }
}

type OfCalls = Pick<UpstreamResourceRepository, 'insert' | 'name' | 'leave' | 'forget'>

function forCalls({ ownerId }: Database, commit: Commit): OfCalls {
  return {
    async insert({ resourceId, kind, deploymentId, credentialId, usedBy, marker }) {
      await commit(commitPoints.intend, {
        sql: `insert into upstream_resources
            (resource_id, kind, deployment_id, credential_id, used_by, marker, state, owner_id, created_at_ms)
          values ($1, $2, $3, $4, $5, $6, 'used', $7, now_ms())`,
        params: [resourceId, kind, deploymentId, credentialId, usedBy, marker, ownerId],
      })
    },
    async name(resourceId, upstreamId, takenIn) {
      await commit(
        commitPoints.name,
        {
          sql: 'update upstream_resources set upstream_id = $1 where resource_id = $2',
          params: [upstreamId, resourceId],
        },
        ...takenIn.map(deleteRow),
      )
    },
    async leave(resourceId, upstreamId) {
      await commit(commitPoints.leave, {
        sql: `update upstream_resources set state = 'left', owner_id = null, due_at_ms = now_ms(), left_at_ms = now_ms(),
            upstream_id = coalesce($1, upstream_id)
          where resource_id = $2 and state = 'used'`,
        params: [upstreamId, resourceId],
      })
    },
    async forget(resourceId) {
      await commit(commitPoints.forget, deleteRow(resourceId))
    },
  }
}

/** A thing that a stored job uses, not a process: its row goes on when processes die, until the job leaves it. */
export function insertJobResource(resource: NewResource): Statement {
  return {
    sql: `insert into upstream_resources
        (resource_id, kind, deployment_id, credential_id, used_by, marker, state, created_at_ms)
      values ($1, $2, $3, $4, $5, $6, 'used', now_ms())`,
    params: [
      resource.resourceId,
      resource.kind,
      resource.deploymentId,
      resource.credentialId,
      resource.usedBy,
      resource.marker,
    ],
  }
}

/** A thing that a job has found to be there and that is to be removed. */
export function insertLeftResource(resource: NewResource, upstreamId: string): Statement {
  return {
    sql: `insert into upstream_resources
        (resource_id, kind, deployment_id, credential_id, used_by, marker, upstream_id, state, due_at_ms, created_at_ms, left_at_ms)
      values ($1, $2, $3, $4, $5, $6, $7, 'left', now_ms(), now_ms(), now_ms())`,
    params: [
      resource.resourceId,
      resource.kind,
      resource.deploymentId,
      resource.credentialId,
      resource.usedBy,
      resource.marker,
      upstreamId,
    ],
  }
}

/** The thing of this kind that the job uses has this id. */
export function nameJobResource(usedBy: string, kind: string, upstreamId: string): Statement {
  return {
    sql: `update upstream_resources set upstream_id = $1 where used_by = $2 and kind = $3 and state = 'used'`,
    params: [upstreamId, usedBy, kind],
  }
}

/** The job needs nothing of this kind any more: it is to be removed. */
export function leaveJobResources(usedBy: string, kind: string): Statement {
  return {
    sql: `update upstream_resources set state = 'left', due_at_ms = now_ms(), left_at_ms = now_ms()
      where used_by = $1 and kind = $2 and state = 'used'`,
    params: [usedBy, kind],
  }
}

/** Everything that the job uses is to be removed, of whatever kind. */
export function leaveAllJobResources(usedBy: string): Statement {
  return {
    sql: `update upstream_resources set state = 'left', due_at_ms = now_ms(), left_at_ms = now_ms()
      where used_by = $1 and state = 'used'`,
    params: [usedBy],
  }
}

/** There is nothing of this kind that the job would have to remove. */
export function forgetJobResources(usedBy: string, kind: string): Statement {
  return {
    sql: `delete from upstream_resources where used_by = $1 and kind = $2 and state = 'used'`,
    params: [usedBy, kind],
  }
}

type OfClaims = Pick<UpstreamResourceRepository, 'freeOfDead' | 'claim' | 'expireKept' | 'ofMarker'>

function forClaims(database: Database, commit: Commit): OfClaims {
  return {
    async freeOfDead() {
      const owners = await database.query<{ owner_id: string }>(
        `select distinct owner_id from upstream_resources where owner_id is not null and owner_id <> $1 limit $2`,
        [database.ownerId, resourceOwnersMax],
      )
      let dead = 0
      for (const { owner_id: ownerId } of owners) {
        if (!(await database.isOwnerDead(ownerId))) continue
        dead += 1
        await commit(commitPoints.free, {
          sql: `update upstream_resources set state = 'left', owner_id = null, due_at_ms = now_ms(),
              left_at_ms = coalesce(left_at_ms, now_ms())
            where owner_id = $1`,
          params: [ownerId],
        })
      }
      return dead
    },
    async claim(limit, leaseMs) {
      // A look costs a read; only what is due costs a write.
      const due = await database.query(
        `select 1 as found from upstream_resources where state = 'left' and due_at_ms <= now_ms() limit 1`,
      )
      if (due.length === 0) return []
      const [rows = []] = await commit(commitPoints.claim, {
        sql: `update upstream_resources
          set tries = tries + 1, due_at_ms = now_ms() + cast($1 as bigint), owner_id = $2
          where resource_id in (
            select resource_id from upstream_resources where state = 'left' and due_at_ms <= now_ms()
            order by due_at_ms limit $3 {{for_update_skip_locked}})
            and state = 'left' and due_at_ms <= now_ms()
          returning *`,
        params: [leaseMs, database.ownerId, limit],
      })
      return rows.map(toClaimed)
    },
    async expireKept(limit) {
      const due = await database.query(
        `select 1 as found from upstream_resources where state = 'kept' and due_at_ms <= now_ms() limit 1`,
      )
      if (due.length === 0) return
      await commit(commitPoints.expire, {
        sql: `delete from upstream_resources where resource_id in (
            select resource_id from upstream_resources where state = 'kept' and due_at_ms <= now_ms() limit $1)`,
        params: [limit],
      })
    },
    async ofMarker({ deploymentId, kind, marker }) {
      const rows = await database.query<{ upstream_id: string | null; state: string; marker: string | null }>(
        `select upstream_id, state, marker from upstream_resources
         where deployment_id = $1 and kind = $2 and (upstream_id is not null or marker = $3) limit $4`,
        [deploymentId, kind, marker, knownResourcesMax],
      )
      const unnamed = rows.filter((row) => row.upstream_id === null && row.marker === marker)
      return {
        upstreamIds: rows.flatMap((row) => (row.upstream_id === null ? [] : [row.upstream_id])),
        making: unnamed.filter(({ state }) => state === 'used').length,
        lost: unnamed.filter(({ state }) => state === 'left').length,
      }
    },
  }
}

/** Fenced by the number of tries: a claim that another process has taken over changes nothing. */
function forEndings(commit: Commit): Pick<UpstreamResourceRepository, 'removed' | 'postpone' | 'keep'> {
  return {
    async removed({ resourceId, tries }) {
      await commit(commitPoints.removed, {
        sql: `delete from upstream_resources where resource_id = $1 and state = 'left' and tries = $2`,
        params: [resourceId, tries],
      })
    },
    async postpone({ resourceId, tries }, { waitMs, reason, isLook = false }) {
      await commit(commitPoints.postpone, {
        sql: `update upstream_resources set due_at_ms = now_ms() + cast($1 as bigint), owner_id = null, reason = $2,
            looks = looks + $5
          where resource_id = $3 and state = 'left' and tries = $4`,
        params: [waitMs, reason, resourceId, tries, isLook ? 1 : 0],
      })
    },
    async keep({ resourceId, tries }, reason, keptMs) {
      await commit(commitPoints.keep, {
        sql: `update upstream_resources set state = 'kept', owner_id = null, due_at_ms = now_ms() + cast($1 as bigint),
            reason = $2
          where resource_id = $3 and state = 'left' and tries = $4`,
        params: [keptMs, reason, resourceId, tries],
      })
    },
  }
}

function deleteRow(resourceId: string): Statement {
  return { sql: 'delete from upstream_resources where resource_id = $1', params: [resourceId] }
}

function toClaimed(row: Row): ClaimedResource {
  const textOrNull = (name: string) => (row[name] === null ? null : String(row[name]))
  return {
    resourceId: String(row['resource_id']),
    kind: String(row['kind']),
    deploymentId: String(row['deployment_id']),
    credentialId: String(row['credential_id']),
    usedBy: String(row['used_by']),
    marker: textOrNull('marker'),
    upstreamId: textOrNull('upstream_id'),
    tries: Number(row['tries']),
    looks: Number(row['looks']),
    createdAtMs: Number(row['created_at_ms']),
    leftAtMs: Number(row['left_at_ms']),
  }
}
