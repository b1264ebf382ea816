// A password must be long, and not by repeats, runs along the alphabet or the keyboard, common
// words, years, or the name of its user or of this service. Each such piece counts as one
// character. And it must not be a common one, nor two of them.

import { apiError } from '../../http/errors.ts'
import { PASSWORD_CHARS } from '../schema.ts'
import { type CommonPasswords, isCommon, loadCommonPasswords } from './common-passwords.ts'
import { COMMON_WORDS } from './common-words.ts'

const { minLength: CHARS_MIN, maxLength: CHARS_MAX } = PASSWORD_CHARS
/** Fewest pieces, where a common one counts as one. */
const PIECES_MIN = 8
const DISTINCT_MIN = 6
const RUN_MIN = 3
const NAME_PART_MIN = 3
const SERVICE = 'vidimus'

const RUNS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'qwertzuiop', 'asdfghjkl', 'yxcvbnm', 'zxcvbnm']
const ROWS = [...RUNS, ...RUNS.map(run => [...run].reverse().join(''))]

/** Throws `password_refused` with the reason. */
export async function refuseWeakPassword(password: string, userName: string): Promise<void> {
  const weakness = weaknessOf(password, userName, await loadCommonPasswords())
  if (weakness) throw apiError('password_refused', { message: weakness })
}

export function weaknessOf(password: string, userName: string, common: CommonPasswords): string | undefined {
  const length = [...password].length
  if (length < CHARS_MIN) return `A password needs at least ${CHARS_MIN} characters; a few words in a row are easy to remember.`
  if (length > CHARS_MAX) return `A password has at most ${CHARS_MAX} characters.`
  const plain = password.normalize('NFKC').toLowerCase()
  const names = [SERVICE, ...userName.toLowerCase().split(/[^a-z0-9]+/)].filter(part => part.length >= NAME_PART_MIN)
  if (names.some(part => lettersOf(plain).includes(part)))
    return 'The password contains your name or that of this service; leave both out.'
  if (isCommon(plain, common) || isCommon(lettersOf(plain), common))
    return 'The password is one of the first that people try; add words of your own.'
  if (new Set(plain).size < DISTINCT_MIN || isRepeated(plain))
    return 'The password repeats the same few characters; use more different ones.'
  if (piecesOf(lettersOf(plain)) < PIECES_MIN)
    return 'The password is made of what many people use: common words, years, or keys in a row.'
  return undefined
}

/** Spaces, dots and look-alike characters do not make a word uncommon. */
const LOOKALIKES: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

function lettersOf(text: string): string {
  // A digit between digits stays one: years and runs are searched among them.
  return text.replace(/(?<!\d)[013457@$!](?!\d)/g, char => LOOKALIKES[char] ?? char).replace(/[^\p{L}\p{N}\p{So}]/gu, '')
}

/** True for one block repeated to the end. */
function isRepeated(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.startsWith(text.slice(period))) return true
  }
  return false
}

function piecesOf(text: string): number {
  let pieces = 0
  for (let at = 0; at < text.length; at += commonPieceAt(text, at)) pieces++
  return pieces
}

/** Length of the common piece at this place; 1 for any other character. */
function commonPieceAt(text: string, at: number): number {
  const rest = text.slice(at)
  const word = COMMON_WORDS.reduce((longest, each) => (rest.startsWith(each) ? Math.max(longest, each.length) : longest), 1)
  const year = /^(19|20)\d\d/.test(rest) ? 4 : 1
  return Math.max(word, year, runAt(rest), repeatAt(rest))
}

function runAt(text: string): number {
  const lengths = ROWS.map(row => {
    const start = row.indexOf(text[0] ?? '')
    let length = 0
    while (start >= 0 && length < text.length && row[start + length] === text[length]) length++
    return length
  })
  const longest = Math.max(...lengths)
  return longest >= RUN_MIN ? longest : 1
}

function repeatAt(text: string): number {
  return /^(.)\1*/su.exec(text)?.[0].length ?? 1
}
