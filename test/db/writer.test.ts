import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Db } from '../../src/db/engine.ts'
import { groupOf } from '../../src/db/group.ts'
import { createStorage, openReader, openWriter, type Storage } from '../../src/db/sqlite/storage.ts'
import { countSyncs } from '../helpers/crash/count-syncs.ts'
import { canTrace } from '../helpers/crash/kill-at.ts'
import { seeded } from '../helpers/seeded.ts'

let dir: string
let fileCount = 0
const opened = new Set<() => Promise<void>>()

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'vidimus-writer-'))
})
afterAll(async () => {
  for (const close of opened) await close()
  rmSync(dir, { recursive: true, force: true })
})

const newFile = () => join(dir, `${++fileCount}.db`)

type Fixture = Storage & {
  file: string
  writer: Database
  /** A second connection, as another process would have. */
  other: Database
  groups: number[]
  rows: () => number[]
}

/** The real writer on a real file with one small table. */
function storage(file = newFile(), writer = openWriter(file)): Fixture {
  writer.run('CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY, text BLOB, parent INTEGER REFERENCES notes (n))')
  const groups: number[] = []
  const made = createStorage(writer, openReader(file), { onGroup: size => void groups.push(size) })
  const other = new Database(file, { readonly: true })
  const close = async () => {
    if (!opened.delete(close)) return
    other.close()
    await made.close()
  }
  opened.add(close)
  return { ...made, close, file, writer, other, groups, rows: () => rowsOf(other) }
}

const rowsOf = (sqlite: Database): number[] =>
  sqlite
    .query<{ n: number }, []>('SELECT n FROM notes ORDER BY rowid')
    .all()
    .map(({ n }) => n)

const insert = (tx: Db, n: number, bytes = 0): void =>
  void tx.run(sql`INSERT INTO notes (n, text) VALUES (${n}, zeroblob(${bytes}))`)

const turn = () => new Promise<void>(done => setImmediate(done))

const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Outcome of each promise, in their order. */
const outcomes = async (writes: Promise<unknown>[]) => (await Promise.allSettled(writes)).map(({ status }) => status)

describe('grouping', () => {
  test('a thousand concurrent writes share four commits', async () => {
    const { write, groups, rows } = storage()
    await Promise.all(range(1000).map(n => write(tx => insert(tx, n))))
    expect(groups).toEqual([256, 256, 256, 232])
    expect(rows()).toEqual(range(1000))
  })

  test('writes one after the other have a commit each', async () => {
    const { write, groups } = storage()
    for (const n of range(5)) await write(tx => insert(tx, n))
    expect(groups).toEqual([1, 1, 1, 1, 1])
  })

  test('a write that arrives while a group is being committed goes into the next group', async () => {
    const { write, groups, rows } = storage()
    const late: Promise<void>[] = []
    const early = range(3).map(n =>
      write(tx => {
        insert(tx, n)
        late.push(write(next => insert(next, n + 10)))
      }),
    )
    await Promise.all(early)
    await Promise.all(late)
    expect(groups).toEqual([3, 3])
    expect(rows()).toEqual([1, 2, 3, 11, 12, 13])
  })

  test('a write gives back what its work returned', async () => {
    const { write } = storage()
    expect(await write(() => 'text')).toBe('text')
    expect(await write(async () => undefined)).toBeUndefined()
    expect(await Promise.all(range(20).map(n => write(async () => n)))).toEqual(range(20))
  })
})

describe('order', () => {
  test('is first come first served, over the borders of groups and whatever each work waits for', async () => {
    const { write, rows } = storage()
    const random = seeded(5)
    const begun: number[] = []
    const settled: number[] = []
    const noted = async (n: number) => {
      const turns = random.below(3)
      await write(async tx => {
        begun.push(n)
        for (let i = 0; i < turns; i++) await turn()
        insert(tx, n)
      })
      settled.push(n)
    }
    await Promise.all(range(600).map(noted))
    expect(begun).toEqual(range(600))
    expect(settled).toEqual(range(600))
    expect(rows()).toEqual(range(600))
  })

  test('no work begins before the one ahead of it has ended', async () => {
    const { write } = storage()
    let running = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++running)
      await turn()
      running--
    }
    await Promise.all(range(50).map(() => write(work)))
    expect(most).toBe(1)
  })
})

describe('a work that throws', () => {
  test('is undone alone, and its caller hears its own error', async () => {
    const { write, groups, rows } = storage()
    const failure = new Error('quota spent')
    const writes = range(9).map(n =>
      write(tx => {
        insert(tx, n)
        if (n % 3 === 0) throw failure
      }),
    )
    expect(await outcomes(writes)).toEqual(range(9).map(n => (n % 3 === 0 ? 'rejected' : 'fulfilled')))
    expect(writes[2]).rejects.toBe(failure)
    expect(rows()).toEqual([1, 2, 4, 5, 7, 8])
    expect(groups).toEqual([9])
  })

  test('is undone with all its earlier statements, also after waiting in the middle', async () => {
    const { write, rows } = storage()
    await write(tx => insert(tx, 100))
    const writes = [
      write(tx => insert(tx, 1)),
      write(async tx => {
        insert(tx, 2)
        await turn()
        tx.run(sql`UPDATE notes SET n = n + 1000`)
        await turn()
        tx.run(sql`DELETE FROM notes`)
        insert(tx, 3)
        await turn()
        throw new Error('too late')
      }),
      write(async tx => {
        await turn()
        insert(tx, 4)
      }),
    ]
    expect(await outcomes(writes)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(rows()).toEqual([1, 4, 100])
  })

  test('a refusal of the database itself is such an error too', async () => {
    const { write, rows } = storage()
    const writes = [
      write(tx => insert(tx, 1)),
      write(tx => {
        insert(tx, 2)
        insert(tx, 1)
      }),
      write(tx => insert(tx, 3)),
      write(tx => void tx.run(sql`INSERT INTO nowhere VALUES (1)`)),
      write(tx => void tx.run(sql`INSERT INTO notes (n, parent) VALUES (9, 12345)`)),
      write(tx => insert(tx, 4)),
    ]
    expect(await outcomes(writes)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(rows()).toEqual([1, 3, 4])
  })

  test('is seen by nobody behind it: the next work finds the state before it', async () => {
    const { write } = storage()
    const count = (tx: Db) => tx.all<{ count: number }>(sql`SELECT count(*) AS count FROM notes`)[0]?.count
    const undone = write(tx => {
      insert(tx, 1)
      throw new Error('undone')
    })
    const next = write(count)
    await Promise.allSettled([undone])
    expect(await next).toBe(0)
  })

  test('whatever throws when, exactly the resolved writes are there', async () => {
    const { write, rows } = storage()
    const random = seeded(11)
    const kept: number[] = []
    const one = async (n: number) => {
      const throwsAt = random.below(6)
      await write(async tx => {
        insert(tx, n)
        if (throwsAt === 0) throw new Error('first')
        await turn()
        insert(tx, n + 10_000)
        if (throwsAt === 1) throw new Error('second')
      }).then(
        () => kept.push(n, n + 10_000),
        () => {},
      )
    }
    await Promise.all(range(400).map(one))
    expect(kept.length).toBeWithin(400, 800)
    expect(rows()).toEqual(kept.toSorted((a, b) => a - b))
  })
})

describe('durability', () => {
  test('a promise resolves only when another connection sees the row', async () => {
    const { write, other } = storage()
    const seen = async (n: number) => {
      await write(tx => insert(tx, n))
      return other.query('SELECT n FROM notes WHERE n = ?').get(n) !== null
    }
    expect(await Promise.all(range(300).map(seen))).toEqual(new Array(300).fill(true))
  })

  test('a promise rejects only when the rest of its group is committed', async () => {
    const { write, other } = storage()
    const refused = write(() => {
      throw new Error('refused')
    }).catch(() => rowsOf(other))
    const rest = write(async tx => {
      insert(tx, 1)
      await turn()
      insert(tx, 2)
    })
    expect(await refused).toEqual([1, 2])
    await rest
  })

  test('nothing of a group is seen before its commit', async () => {
    const { write, rows, db } = storage()
    const before = await write(async tx => {
      insert(tx, 1)
      await turn()
      return [rows().length, db.all(sql`SELECT n FROM notes`).length]
    })
    expect(before).toEqual([0, 0])
    expect(rows()).toEqual([1])
  })

  test('the pragmas are those of the reliability plan', () => {
    const sqlite = openWriter(newFile())
    const pragma = (name: string) => Object.values(sqlite.query(`PRAGMA ${name}`).get() as Record<string, unknown>)[0]
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('synchronous')).toBe(2)
    expect(pragma('fullfsync')).toBe(1)
    expect(pragma('foreign_keys')).toBe(1)
    expect(pragma('busy_timeout')).toBe(5000)
    expect(pragma('secure_delete')).toBe(1)
    expect(pragma('trusted_schema')).toBe(0)
    expect(pragma('cell_size_check')).toBe(1)
    expect(pragma('journal_size_limit')).toBe(64 * 1024 * 1024)
    expect(pragma('wal_autocheckpoint')).toBe(1000)
    sqlite.close()
  })

  test('a reader cannot write, waits as long for a lock, and trusts no schema', () => {
    const { file } = storage()
    const reader = openReader(file)
    const pragma = (name: string) => Object.values(reader.query(`PRAGMA ${name}`).get() as Record<string, unknown>)[0]
    expect(() => reader.run('INSERT INTO notes (n) VALUES (1)')).toThrow('readonly')
    expect(pragma('busy_timeout')).toBe(5000)
    expect(pragma('trusted_schema')).toBe(0)
    expect(pragma('cell_size_check')).toBe(1)
    reader.close()
  })

  const WRITES = 200
  if (canTrace) {
    test(`each of ${WRITES} writes is synced to the disk before it is acknowledged (counted with strace)`, async () => {
      const syncs = await countSyncs(WRITES)
      expect(syncs).toBeGreaterThanOrEqual(WRITES)
    })
  } else {
    test('synchronous is FULL (strace is not here: syncs are not counted, only the setting is read)', () => {
      const sqlite = openWriter(newFile())
      expect(sqlite.query('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
      sqlite.close()
    })
  }
})

describe('a commit that fails', () => {
  test('rejects everyone in its group, leaves nothing of it, and the next group is committed', async () => {
    const { write, rows, groups } = storage()
    const orphan = (tx: Db) => {
      // Checked at COMMIT, so that it is the commit that fails.
      tx.run(sql`PRAGMA defer_foreign_keys = ON`)
      tx.run(sql`INSERT INTO notes (n, parent) VALUES (5, 12345)`)
    }
    const writes = [write(tx => insert(tx, 1)), write(orphan), write(tx => insert(tx, 2))]
    expect(await outcomes(writes)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(rows()).toEqual([])
    expect(groups).toEqual([])
    await write(tx => insert(tx, 3))
    expect(rows()).toEqual([3])
  })

  test('a group that cannot begin because another process writes is rejected whole, and the next one is committed', async () => {
    const { write, rows, writer, file } = storage()
    writer.run('PRAGMA busy_timeout = 0')
    const rival = new Database(file)
    rival.run('BEGIN IMMEDIATE')
    const writes = range(3).map(n => write(tx => insert(tx, n)))
    expect(await outcomes(writes)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(writes[0]).rejects.toMatchObject({ code: 'SQLITE_BUSY' })
    rival.run('COMMIT')
    rival.close()
    await write(tx => insert(tx, 4))
    expect(rows()).toEqual([4])
  })
})

describe('look-ups on the connection of the writer', () => {
  test('keeps no write waiting when its reading was ended by SQLite, as after a page that could not be read', async () => {
    const { warm, write, writer, rows } = storage()
    warm()
    writer.run('ROLLBACK')
    await write(tx => tx.run(sql`INSERT INTO notes (n) VALUES (1)`))
    expect(rows()).toEqual([1])
  })

  test('while a write is under way, shows what was committed before it and nothing that may be rolled back', async () => {
    const { warm, write } = storage()
    const count = () => warm().all(sql`SELECT n FROM notes`).length
    await write(tx => insert(tx, 1))
    const during = await write(async tx => {
      await insert(tx, 2)
      return count()
    })
    expect([during, count()]).toEqual([1, 2])
  })

  test('between the first and the second try of a group that failed, disturbs neither', async () => {
    const { warm, write, rows } = storage()
    const failing = write(async () => {
      // Looks something up in the moments after the failure, one after the other.
      let later = Promise.resolve()
      for (let i = 0; i < 20; i++) later = later.then(() => void warm())
      throw new Error('refused')
    })
    const good = write(tx => tx.run(sql`INSERT INTO notes (n) VALUES (1)`))
    expect(failing).rejects.toThrow('refused')
    await good
    expect(rows()).toEqual([1])
  })
})

describe('remembered settings', () => {
  test('is to be read again after a write, one that failed too, and after one of another process, but not after one of a session', async () => {
    const { settingsVersion, write, writeSettings, writer } = storage()
    const versions = [await settingsVersion()]
    await write(tx => insert(tx, 1))
    expect(await settingsVersion()).toBe(versions[0]!)
    await writeSettings(tx => insert(tx, 2))
    versions.push(await settingsVersion())
    expect(
      writeSettings(() => {
        throw new Error('refused')
      }),
    ).rejects.toThrow('refused')
    await turn()
    versions.push(await settingsVersion())
    const other = new Database(writer.filename)
    other.run('DELETE FROM notes')
    other.close()
    await turn()
    versions.push(await settingsVersion())
    expect(new Set(versions).size).toBe(4)
  })

  test('is to be read again when nobody can tell whether another process wrote: also by the next one in that turn', async () => {
    const file = newFile()
    const { writer, failNext } = failingAtVersions(file)
    const { settingsVersion } = storage(file, writer)
    const before = await settingsVersion()
    await turn()
    expect(await settingsVersion()).toBe(before)
    await turn()
    failNext()
    expect(settingsVersion()).rejects.toThrow('disk I/O error')
    const during = await settingsVersion()
    expect(during).not.toBe(before)
    await turn()
    expect(await settingsVersion()).toBe(during)
  })

  test('while such a write is under way, is of a version of its own: it may yet be undone', async () => {
    const { settingsVersion, writeSettings } = storage()
    const before = await settingsVersion()
    const during = await writeSettings(() => settingsVersion())
    expect(during).not.toBe(before)
    expect(await settingsVersion()).not.toBe(during)
  })
})

/** A connection whose disk fails once, when it is asked for what others wrote. */
function failingAtVersions(file: string) {
  const writer = openWriter(file)
  // The connection keeps its statements: whoever asks with these words gets this one.
  const asked = writer.query<{ data_version: number }, []>('PRAGMA data_version')
  const get = asked.get.bind(asked)
  let isFailing = false
  asked.get = () => {
    if (!isFailing) return get()
    isFailing = false
    throw new Error('disk I/O error')
  }
  const failNext = () => {
    isFailing = true
  }
  return { writer, failNext }
}

describe('the writes of one commit', () => {
  const tally = {}
  let alone = 0
  const countIn = (tx: Db): void => {
    const group = groupOf(tx)
    if (!group) insert(tx, 1000 + ++alone)
    if (!group) return
    const count = (group.kept.get(tally) as number | undefined) ?? 0
    group.kept.set(tally, count + 1)
    if (count === 0) group.atEnd.push(async () => insert(tx, group.kept.get(tally) as number))
  }

  test('share what they keep, and what is left to the end is part of the commit; the next group knows nothing of it', async () => {
    const { write, rows } = storage()
    await Promise.all(range(7).map(() => write(countIn)))
    expect(rows()).toEqual([7])
    await Promise.all(range(3).map(() => write(countIn)))
    expect(rows()).toEqual([3, 7])
  })

  test('are made one by one, sharing nothing, when one of them fails, or what was left to the end', async () => {
    const { write, rows } = storage()
    const failing = write(() => {
      throw new Error('refused')
    })
    const good = range(4).map(() => write(countIn))
    expect(failing).rejects.toThrow('refused')
    await Promise.all(good)
    expect(rows().every(n => n >= 1000)).toBe(true)
    expect(rows()).toHaveLength(4)
    const unfinished = write(tx => {
      groupOf(tx)?.atEnd.push(async () => {
        throw new Error('at the end')
      })
      insert(tx, 5)
    })
    await Promise.all([unfinished, write(countIn)])
    expect(rows()).toHaveLength(6)
    expect(rows()).toContain(5)
  })
})

describe('a full disk', () => {
  /** No page more than there is now, and a little. */
  function fill({ writer }: Fixture, spare: number): void {
    const pages = writer.query<{ page_count: number }, []>('PRAGMA page_count').get()!.page_count
    writer.run(`PRAGMA max_page_count = ${pages + spare}`)
  }
  const makeRoom = ({ writer }: Fixture) => writer.run('PRAGMA max_page_count = 1000000')

  test('rejects everyone whose work was lost with it, and the writer goes on when there is room', async () => {
    const made = storage()
    await made.write(tx => insert(tx, 100))
    fill(made, 2)
    const writes = [
      made.write(tx => insert(tx, 1)),
      made.write(tx => insert(tx, 2)),
      made.write(tx => insert(tx, 3, 100_000)),
      made.write(tx => insert(tx, 4)),
    ]
    const results = await outcomes(writes)
    expect(results[2]).toBe('rejected')
    expect(writes[2]).rejects.toMatchObject({ cause: { code: 'SQLITE_FULL' } })
    // SQLite itself rolled the whole transaction back: whoever was told so must be told all.
    const kept = range(4).filter((_, i) => results[i] === 'fulfilled')
    expect(made.rows()).toEqual([...kept, 100])
    makeRoom(made)
    await made.write(tx => insert(tx, 3, 100_000))
    expect(made.rows()).toContain(3)
    expect(made.rows()).toContain(100)
  })

  test('a work that swallows the error does not give anybody a false success', async () => {
    const made = storage()
    fill(made, 1)
    const swallowing = made.write(tx => {
      try {
        insert(tx, 2, 100_000)
      } catch {
        // As careless code would.
      }
    })
    const writes = [made.write(tx => insert(tx, 1)), swallowing, made.write(tx => insert(tx, 3))]
    const results = await outcomes(writes)
    const resolved = [1, 2, 3].filter((n, i) => results[i] === 'fulfilled' && n !== 2)
    for (const n of resolved) expect(made.rows()).toContain(n)
    expect(made.rows()).not.toContain(2)
    makeRoom(made)
    await made.write(tx => insert(tx, 7))
    expect(made.rows()).toContain(7)
  })

  test('at every size, exactly the resolved writes are there, and reads go on', async () => {
    const random = seeded(3)
    for (let spare = 0; spare < 12; spare++) {
      const made = storage()
      await made.write(tx => insert(tx, 1000))
      fill(made, spare)
      const sizes = range(12).map(() => random.below(4) * 3000)
      const results = await outcomes(
        sizes.map((bytes, i) =>
          made.write(async tx => {
            insert(tx, i + 1, bytes)
            await turn()
            insert(tx, i + 101, bytes)
          }),
        ),
      )
      const kept = sizes.flatMap((_, i) => (results[i] === 'fulfilled' ? [i + 1, i + 101] : []))
      expect(made.rows()).toEqual([...kept, 1000].sort((a, b) => a - b))
      expect(made.db.all<{ quick_check: string }>(sql`PRAGMA quick_check`)).toEqual([{ quick_check: 'ok' }])
      makeRoom(made)
      await made.write(tx => insert(tx, 2000, 50_000))
      expect(made.rows()).toContain(2000)
      await made.close()
    }
  })
})

describe('forgetDeleted', () => {
  test('empties the log', async () => {
    const { write, forgetDeleted, file, rows } = storage()
    await Promise.all(range(20).map(n => write(tx => insert(tx, n, 5000))))
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
    expect(await forgetDeleted()).toBe(true)
    expect(statSync(`${file}-wal`).size).toBe(0)
    expect(rows()).toEqual(range(20))
  })

  test('deleted text is in no file afterwards', async () => {
    const { write, forgetDeleted, file } = storage()
    const canary = 'Erika Mustermann 4711'
    await write(tx => void tx.run(sql`INSERT INTO notes (n, text) VALUES (1, ${canary})`))
    const isThere = async () => {
      const files = await Promise.all([file, `${file}-wal`].map(each => Bun.file(each).text()))
      return files.some(text => text.includes(canary))
    }
    await forgetDeleted()
    expect(await isThere()).toBe(true)
    await write(tx => void tx.run(sql`DELETE FROM notes`))
    await forgetDeleted()
    expect(await isThere()).toBe(false)
  })

  test('while a reader holds the log it answers false, and true once the reader is gone', async () => {
    const { write, forgetDeleted, other, file } = storage()
    await write(tx => insert(tx, 1))
    other.run('BEGIN')
    expect(rowsOf(other)).toEqual([1])
    await write(tx => insert(tx, 2))
    expect(await forgetDeleted()).toBe(false)
    other.run('COMMIT')
    expect(await forgetDeleted()).toBe(true)
    expect(statSync(`${file}-wal`).size).toBe(0)
  })

  test('while another process writes it answers false', async () => {
    const { write, forgetDeleted, file } = storage()
    await write(tx => insert(tx, 1))
    const rival = new Database(file)
    rival.run('BEGIN IMMEDIATE')
    expect(await forgetDeleted()).toBe(false)
    rival.run('ROLLBACK')
    rival.close()
    expect(await forgetDeleted()).toBe(true)
  })

  test('waits its turn behind a group that is being written, and leaves the lock patience as it was', async () => {
    const { write, forgetDeleted, writer, rows } = storage()
    const writes = range(300).map(n => write(tx => insert(tx, n)))
    expect(await forgetDeleted()).toBe(true)
    await Promise.all(writes)
    expect(rows()).toEqual(range(300))
    expect(writer.query('PRAGMA busy_timeout').get()).toEqual({ timeout: 5000 })
  })
})

test('a snapshot does not show rows that were committed after it was opened', async () => {
  const { write, openSnapshot, rows } = storage()
  await write(tx => insert(tx, 1))
  const snapshot = await openSnapshot()
  await write(tx => insert(tx, 2))
  expect(await snapshot.db.all(sql`SELECT n FROM notes`)).toEqual([{ n: 1 }])
  expect(rows()).toEqual([1, 2])
  await snapshot.close()
})

describe('close', () => {
  test('waits for everything that is queued, and empties the log', async () => {
    const { write, close, file } = storage()
    const writes = range(600).map(n => write(tx => insert(tx, n)))
    await close()
    expect(await outcomes(writes)).toEqual(new Array(600).fill('fulfilled'))
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0)
    const again = new Database(file, { readonly: true })
    expect(rowsOf(again)).toEqual(range(600))
    again.close()
  })

  test('waits for a work that is in the middle', async () => {
    const { write, close, file } = storage()
    let isInside = false
    const slow = write(async tx => {
      isInside = true
      insert(tx, 1)
      for (let i = 0; i < 20; i++) await turn()
      insert(tx, 2)
    })
    while (!isInside) await turn()
    await close()
    await slow
    const again = new Database(file, { readonly: true })
    expect(rowsOf(again)).toEqual([1, 2])
    again.close()
  })

  test('a write after it is rejected, and a forgetDeleted after it says that the log is empty', async () => {
    const { write, forgetDeleted, close } = storage()
    await write(tx => insert(tx, 1))
    await close()
    expect(await outcomes([write(tx => insert(tx, 2))])).toEqual(['rejected'])
    expect(await forgetDeleted()).toBe(true)
  })
})

// A log cut anywhere stands in for a power cut: what was committed before it must be there, whole, and nothing else.
test('a log cut at any byte opens with exactly the writes that were whole before the cut (60 cuts)', async () => {
  const CUTS = 60
  const { write, writer, file, forgetDeleted } = storage()
  await forgetDeleted()
  writer.run('PRAGMA wal_autocheckpoint = 0')
  const random = seeded(2026)
  const log = `${file}-wal`
  const ends: { size: number; last: number }[] = [{ size: 0, last: 0 }]
  let n = 0
  while (n < 120) {
    // Sometimes alone, sometimes as a group: a group is one commit.
    const writes = range(1 + random.below(4)).map(() => {
      const own = ++n
      return write(async tx => {
        insert(tx, own, random.below(6000))
        await turn()
        insert(tx, own + 10_000, random.below(200))
      })
    })
    await Promise.all(writes)
    ends.push({ size: statSync(log).size, last: n })
  }

  const whole = statSync(log).size
  const states = new Set<number>()
  for (let i = 0; i < CUTS; i++) {
    const copy = newFile()
    const cut = i === 0 ? whole : random.below(whole)
    copyFileSync(file, copy)
    copyFileSync(log, `${copy}-wal`)
    truncateSync(`${copy}-wal`, cut)
    const sqlite = openWriter(copy)
    const last = ends.findLast(({ size }) => size <= cut)!.last
    expect(rowsOf(sqlite)).toEqual([...range(last), ...range(last).map(own => own + 10_000)])
    expect(sqlite.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    sqlite.close()
    states.add(last)
  }
  expect(states.size).toBeGreaterThan(CUTS / 4)
})
