import { Type } from '@sinclair/typebox'

const KEY_PATTERN = '^[a-z0-9_]{1,64}$'

/** The name of a template of one's own: it goes into requests, paths and commands as it is. */
export const TemplateKey = Type.String({ pattern: KEY_PATTERN })

export const isTemplateKey = (text: string): boolean => new RegExp(KEY_PATTERN).test(text)
