// The Bluetooth of the simulated phone: GATT operations between two pages of this service.

/** The characteristics of ISO/IEC 18013-5 that a phone as peripheral server has. */
export type Notifying = 'state' | 'server2client'
export type Writable = 'state' | 'client2server'

/** Values of State. */
export const START = 1
export const END = 2

/** Nothing but `connect` is acknowledged: a channel keeps the order. */
export type ToPhone =
  | { type: 'connect' | 'disconnect' }
  | { type: 'subscribe'; to: Notifying }
  | { type: 'write'; to: Writable; value: Uint8Array }
type ToTill =
  | { type: 'connected'; mtu: number }
  | { type: 'notify'; from: Notifying; value: Uint8Array }
  | { type: 'disconnected' }

/** `link`: the connection, named by the till. */
export type FromTill = ToPhone & { link: string }
export type FromPhone = ToTill & { link: string }

/** The channel of a phone, by the UUID of its service. */
export const openLoopbackChannel = (service: string): BroadcastChannel => new BroadcastChannel(`vidimus-ble ${service}`)

/** The header of a write or of a notification, in a packet of ATT. */
export const ATT_HEADER_BYTES = 3
