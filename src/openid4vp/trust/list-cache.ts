// Signed lists of what was revoked, as this process keeps them: one fetch for everybody who asks, and none while the list is
// fresh. A list that cannot be fetched again is still given, with the reason, until it ends.

import { Lru } from '../../base/lru.ts'

export type ListMedia = 'statuslist+jwt' | 'statuslist+cwt' | 'identifierlist+cwt' | 'crl'

/** A list as it was signed, and its times. */
export type ListBytes = {
  uri: string
  media: ListMedia
  bytes: Uint8Array
  issuedAt: number
  /** From then on it never counts; null without an end. */
  endsAt: number | null
  ttlMs: number | null
  /** As far as it can be believed: that of a stranger's bundle is the issue. */
  fetchedAt: number
  from: 'fetched' | 'bundle'
}

/** What outlives this process. */
export type Shelf = {
  /** The newest of these. */
  find(uri: string, media: readonly ListMedia[]): Promise<ListBytes | undefined>
  /** Stores it once two sessions have named it. Never throws. */
  use(list: ListBytes, session: string): Promise<void>
}

/** The age of a list counts from here. */
export const asOf = ({ issuedAt, fetchedAt }: Pick<ListBytes, 'issuedAt' | 'fetchedAt'>): number => Math.max(issuedAt, fetchedAt)

const MINUTE_MS = 60_000
/** Default: long enough to spare the issuer, short enough to notice a revocation. */
const TTL_MS = 15 * MINUTE_MS
export const TTL_MS_MAX = 1440 * MINUTE_MS

/** Limited on both sides. */
export const ttlOf = (ttlMs: number | null): number => Math.min(Math.max(ttlMs ?? TTL_MS, MINUTE_MS), TTL_MS_MAX)

/** What a bundle brought is used only where nothing newer can be fetched. */
const freshUntil = ({ from, endsAt, fetchedAt, ttlMs }: ListBytes): number =>
  from === 'bundle' ? 0 : Math.min(endsAt ?? Number.POSITIVE_INFINITY, fetchedAt + ttlOf(ttlMs))

type Read<Parsed> = { list: ListBytes; parsed: Parsed }
/** `fault`: why it is not a newer one. */
export type Found<Parsed> = Read<Parsed> & { fault?: Error }

type Source<Parsed> = { stored: () => Promise<Read<Parsed> | undefined>; fetch: () => Promise<Read<Parsed>> }

type Options<Parsed> = {
  now: () => number
  countMax: number
  weightMax: number
  weigh: (parsed: Parsed) => number
  isFault: (error: unknown) => boolean
  /** `reason` is a clause for the merchant. */
  faultOf: (reason: string) => Error
}

type Kept<Parsed> = Read<Parsed> & { freshUntil: number; isRejected: boolean; usedAt: number }

/** An unreachable host is not asked again for each credential. */
const FAULT_KEPT_MS = 10_000
/** For so long after a failure nobody waits for the next attempt who can have an older list. */
const BEHIND_MS = MINUTE_MS

export class ListCache<Parsed> {
  private readonly kept: Lru<Kept<Parsed>>
  private readonly failed: Lru<{ fault: Error; at: number }>
  private readonly underWay = new Map<string, Promise<Read<Parsed>>>()

  constructor(private readonly options: Options<Parsed>) {
    const { countMax, weightMax, weigh } = options
    this.kept = new Lru({ countMax, weightMax, weigh: ({ parsed, list }) => weigh(parsed) + list.bytes.length })
    this.failed = new Lru({ countMax })
  }

  /** Throws the fault when there is no list that has not ended. */
  async get(key: string, source: Source<Parsed>): Promise<Found<Parsed>> {
    const now = this.options.now()
    const kept = this.kept.get(key)
    if (kept) kept.usedAt = now
    if (kept && now < kept.freshUntil) return kept
    const failed = this.failed.get(key)
    const msSince = failed ? now - failed.at : Number.POSITIVE_INFINITY
    if (failed && msSince < FAULT_KEPT_MS) return this.givenUp(key, failed.fault)
    const attempt = this.underWay.get(key) ?? this.refresh(key, source)
    this.underWay.set(key, attempt)
    const answer = attempt.catch(fault => this.givenUp(key, fault))
    if (!failed || msSince >= BEHIND_MS || !this.usable(key)) return await answer
    answer.catch(() => {
      // The next one who asks hears of it.
    })
    return this.givenUp(key, failed.fault)
  }

  /** One that has not ended, and whose signer counts. */
  usable(key: string): Read<Parsed> | undefined {
    const kept = this.kept.get(key)
    const { endsAt } = kept?.list ?? { endsAt: 0 }
    return kept && !kept.isRejected && (endsAt === null || this.options.now() < endsAt) ? kept : undefined
  }

  /** The issuer may replace a wrongly signed list before it ends. */
  reject(key: string): void {
    const kept = this.kept.get(key)
    if (!kept) return
    kept.freshUntil = Math.min(kept.freshUntil, this.options.now() + FAULT_KEPT_MS)
    kept.isRejected = true
  }

  keys(): string[] {
    return [...new Set([...this.kept.keys(), ...this.failed.keys()])]
  }

  /** Of the lists that were used within the hour; 0 without any. */
  oldestMs(): number {
    const now = this.options.now()
    const used = this.kept.values().filter(({ usedAt }) => now - usedAt < 60 * MINUTE_MS)
    return Math.max(0, ...used.map(({ list }) => now - asOf(list)))
  }

  private givenUp(key: string, fault: Error): Found<Parsed> {
    const usable = this.usable(key)
    if (!usable) throw fault
    return { ...usable, fault }
  }

  private async refresh(key: string, { stored, fetch }: Source<Parsed>): Promise<Read<Parsed>> {
    const { now, isFault, faultOf } = this.options
    try {
      const shelved = await stored()
      const before = this.usable(key)
      // Another process, or a bundle, may have brought a newer one.
      if (shelved && (!before || isNewer(shelved.list, before.list))) this.keep(key, shelved)
      const known = this.usable(key)
      if (known && now() < freshUntil(known.list)) return known
      const fetched = await fetch()
      // It may be a replay that hides a revocation.
      if (known && fetched.list.issuedAt < known.list.issuedAt)
        throw faultOf('an older one is published than the one that is known')
      this.failed.delete(key)
      return this.keep(key, fetched)
    } catch (error) {
      const fault = isFault(error) ? (error as Error) : faultOf('it could not be reached')
      this.failed.set(key, { fault, at: now() })
      throw fault
    } finally {
      this.underWay.delete(key)
    }
  }

  private keep(key: string, read: Read<Parsed>): Read<Parsed> {
    this.kept.set(key, { ...read, freshUntil: freshUntil(read.list), isRejected: false, usedAt: this.options.now() })
    return read
  }
}

/** The earlier issue never replaces the later one. */
export const isNewer = (list: ListBytes, than: ListBytes): boolean =>
  list.issuedAt > than.issuedAt || (list.issuedAt === than.issuedAt && asOf(list) > asOf(than))
