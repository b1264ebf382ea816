// Who is served next. Deliveries wait in lanes, one for each tenant and receiver; lanes are served in turn, and no receiver and no tenant
// can take all places: one that never answers holds up nobody but itself. The fewer are free, the fewer a tenant gets, so that a handful of
// tenants with such receivers cannot take all of them either. Only the earliest due time of a lane is kept here, the rows stay in the database.

export type Lane = { lane: string; tenantId: string }
export type DueLane = Lane & { dueAt: number }

export type Lanes = {
  /** Something in this lane is due then. */
  add(due: DueLane): void
  /** The lanes to serve now, once for each place that is theirs; a lane that is named is forgotten until it is added again. */
  take(now: number): Lane[]
  /** A place becomes free. */
  leave(lane: Lane): void
}

/** Calls under way for one tenant. */
export const PER_TENANT_MAX = 8

/** Of what a tenant holds, so many times as much must be free before it gets one more. */
const FREE_FOR_OTHERS = 3

type Places = { atOnce: number; perReceiver: number; perTenant: number }

export function createLanes({ atOnce, perReceiver, perTenant }: Places): Lanes {
  const waiting = new Map<string, DueLane>()
  const taken = new Map<string, number>()
  let takenInAll = 0

  const count = (name: string) => taken.get(name) ?? 0
  const change = (name: string, by: number) => {
    const left = count(name) + by
    if (left === 0) taken.delete(name)
    else taken.set(name, left)
  }
  const occupy = ({ lane, tenantId }: Lane, by: 1 | -1) => {
    takenInAll += by
    change(`receiver ${lane}`, by)
    change(`tenant ${tenantId}`, by)
  }
  const hasPlace = ({ lane, tenantId }: Lane) => {
    const free = atOnce - takenInAll
    const held = count(`tenant ${tenantId}`)
    return free > held * FREE_FOR_OTHERS && held < perTenant && count(`receiver ${lane}`) < perReceiver
  }

  return {
    add(due) {
      const key = `${due.lane} ${due.tenantId}`
      const known = waiting.get(key)
      if (!known || due.dueAt < known.dueAt) waiting.set(key, due)
    },
    take(now) {
      const due = [...waiting].filter(([, lane]) => lane.dueAt <= now)
      const served: Lane[] = []
      for (let before = -1; before < served.length; ) {
        before = served.length
        for (const [key, lane] of due) {
          if (!hasPlace(lane)) continue
          occupy(lane, 1)
          served.push(lane)
          waiting.delete(key)
        }
      }
      return served
    },
    leave: lane => occupy(lane, -1),
  }
}
