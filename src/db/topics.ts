import type { Engine, Topic } from './engine.ts'

export const TOPICS = ['session', 'owed', 'cancel'] as const satisfies Topic[]

/** Listeners of this process, by topic. */
export function createTopics(): Pick<Engine, 'publish' | 'subscribe'> {
  const listeners: Record<Topic, Set<(payload: string) => void>> = { session: new Set(), owed: new Set(), cancel: new Set() }
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
