// The Bluetooth of the simulated phone: GATT operations between two pages of this service.

/** The characteristics of ISO/IEC 18013-5 that a phone as peripheral server has. */
export type Notifying = 'state' | 'server2client'
export type Writable = 'state' | 'client2server'

/** `link`: the connection, named by the till. Nothing but `connect` is acknowledged: a channel keeps the order. */
export type FromTill = { link: string } & (
  | { type: 'connect' }
  | { type: 'subscribe'; to: Notifying }
  | { type: 'write'; to: Writable; value: Uint8Array }
  | { type: 'disconnect' }
)
export type FromPhone = { link: string } & (
  | { type: 'connected'; mtu: number }
  | { type: 'notify'; from: Notifying; value: Uint8Array }
  | { type: 'disconnected' }
)

/** The channel of a phone, by the UUID of its service. */
export const openLoopbackChannel = (service: string): BroadcastChannel => new BroadcastChannel(`vidimus-ble ${service}`)

/** The header of a write or of a notification, in a packet of ATT. */
export const ATT_HEADER_BYTES = 3
