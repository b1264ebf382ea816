import { sha256Hex } from '../base/hash.ts'
import type { Engine, Topic } from './engine.ts'

export const TOPICS = ['session', 'owed', 'cancel', 'cancelled'] as const satisfies Topic[]

/** How notices name a session: everybody at the database can read them, and its id opens its page. */
export const noticeName = (id: string): string => sha256Hex(id).slice(0, 16)

/** Listeners of this process, by topic. */
export function createTopics(): Pick<Engine, 'publish' | 'subscribe'> {
  const listeners: Record<Topic, Set<(payload: string) => void>> = {
    session: new Set(),
    owed: new Set(),
    cancel: new Set(),
    cancelled: new Set(),
  }
  return {
    publish(topic, payload) {
      for (const listener of listeners[topic]) listener(payload)
    },
    subscribe(topic, listener) {
      listeners[topic].add(listener)
      return () => void listeners[topic].delete(listener)
    },
  }
}
