import type { Db } from './engine.ts'

/** State that the writes of one commit share; dropped with it, committed or rolled back. */
type Group = {
  /** Values, each under its owner's key. */
  kept: Map<object, unknown>
  /** Run after the last write, before the commit. */
  atEnd: (() => Promise<void>)[]
}

const groups = new WeakMap<Db, Group>()

/** Undefined while writes run one by one because their group failed: each may then be rolled back alone. */
export const groupOf = (tx: Db): Group | undefined => groups.get(tx)

export function beginGroup(tx: Db): Group {
  const group: Group = { kept: new Map(), atEnd: [] }
  groups.set(tx, group)
  return group
}

export const endGroup = (tx: Db): void => void groups.delete(tx)
