import { describe, expect, test } from 'bun:test'
import { readList } from '../../src/trust-lists/read-list.ts'
import { Unreadable } from '../../src/trust-lists/refuse.ts'
import { readXml } from '../../src/trust-lists/xml.ts'
import { canonicalXml } from '../../src/trust-lists/xml-canonical.ts'

const canonical = (text: string): string => canonicalXml(readXml(Buffer.from(text)))

const nested = (depth: number, inside = ''): string => `${'<a>'.repeat(depth)}${inside}${'</a>'.repeat(depth)}`
const declaring = (from: number, count: number): string =>
  Array.from({ length: count }, (_, i) => ` xmlns:p${from + i}="urn:${from + i}"`).join('')
const attributes = (count: number): string => Array.from({ length: count }, (_, i) => ` a${i}=""`).join('')

describe('an XML document has limits', () => {
  test.each<[string, (count: number) => string, number, string]>([
    ['elements', count => `<a>${'<b/>'.repeat(count - 1)}</a>`, 100_000, 'it has more than 100000 elements'],
    ['levels', count => nested(count), 40, 'its elements are nested more than 40 deep'],
    ['levels, the last one empty', count => nested(count - 1, '<b/>'), 40, 'its elements are nested more than 40 deep'],
    ['attributes of an element', count => `<a${attributes(count)}/>`, 64, 'an element has more than 64 attributes'],
    ['prefixes in a tag', count => `<a${declaring(0, count)}/>`, 32, 'more than 32 prefixes are in scope'],
    [
      'prefixes in scope',
      count => `<a${declaring(0, 16)}><b${declaring(16, count - 16)}/></a>`,
      32,
      'more than 32 prefixes are in scope',
    ],
    ['references in text', count => `<a>${'&amp;'.repeat(count)}</a>`, 100_000, 'it has more than 100000 references'],
    ['references in attributes', count => `<a b="${'&#38;'.repeat(count)}"/>`, 100_000, 'it has more than 100000 references'],
  ])('%s', (_, make, most, detail) => {
    expect(() => canonical(make(most))).not.toThrow()
    expect(() => readXml(Buffer.from(make(most + 1)))).toThrow(detail)
  })

  test('prefixes of elements beside each other are not counted together', () => {
    const two = `<a><b${declaring(0, 32)}/><b${declaring(32, 32)}/></a>`
    expect(canonical(two)).toBe('<a><b></b><b></b></a>')
  })
})

describe('a bomb is refused', () => {
  const manyPrefixes = Array.from({ length: 40 }, (_, i) => `<a${declaring(25 * i, 25)}>`).join('')
  test.each<[string, string, string]>([
    ['1,000 prefixes in one tag', `<a${declaring(0, 1000)}>${'<b/>'.repeat(100_000)}</a>`, 'more than 64 attributes'],
    ['1,000 prefixes in 40 tags', `${manyPrefixes}${'<b/>'.repeat(100_000)}`, 'more than 32 prefixes are in scope'],
    ['a million open tags', '<a>'.repeat(1_000_000), 'nested more than 40 deep'],
    ['4 MB of "&"', `<a>${'&'.repeat(4_000_000)}</a>`, 'it refers to an entity'],
    ['4 MB of white space in a tag', `<a${' '.repeat(4_000_000)}`, 'does not end'],
    ['4 MB of an attribute that does not end', `<a b="${'x'.repeat(4_000_000)}`, 'does not end'],
    ['4 MB of a name', `<${'a'.repeat(4_000_000)}`, 'does not end'],
    ['4 MB of "<"', '<'.repeat(4_000_000), 'it is not XML'],
    ['4 MB of comments before the root', '<!-- -->'.repeat(500_000), 'it is not XML'],
    ['4 MB of "]"', `<a>${']'.repeat(4_000_000)}`, 'does not end'],
  ])('%s', (_, text, detail) => {
    expect(() => readXml(Buffer.from(text))).toThrow(detail)
    // The message goes to a log and to the operator.
    expect(messageOf(text).length).toBeLessThan(200)
  })

  test('7 MB of "&" are not looked at', () => {
    expect(readList('etsi-xml', Buffer.from(`<a>${'&'.repeat(7_000_000)}</a>`))).toMatchObject({ code: 'too_large' })
  })
})

describe('canonical XML', () => {
  test.each<[string, string, string]>([
    ['writes both tags of an empty element', '<a/>', '<a></a>'],
    [
      'sorts attributes by namespace and name',
      '<a xmlns:z="urn:1" xmlns:b="urn:2" c="" b:a="" z:a="" a="" B=""/>',
      '<a xmlns:b="urn:2" xmlns:z="urn:1" B="" a="" c="" z:a="" b:a=""></a>',
    ],
    [
      'declares a namespace where it is used',
      '<a xmlns:b="urn:1"><b:c/><b:c/></a>',
      '<a><b:c xmlns:b="urn:1"></b:c><b:c xmlns:b="urn:1"></b:c></a>',
    ],
    [
      'declares it once on the way down',
      '<b:a xmlns:b="urn:1"><b:c xmlns:b="urn:1"/></b:a>',
      '<b:a xmlns:b="urn:1"><b:c></b:c></b:a>',
    ],
    [
      'declares it again when it changes',
      '<b:a xmlns:b="urn:1"><b:c xmlns:b="urn:2"/></b:a>',
      '<b:a xmlns:b="urn:1"><b:c xmlns:b="urn:2"></b:c></b:a>',
    ],
    ['ends the default namespace', '<a xmlns="urn:1"><b xmlns=""><c/></b></a>', '<a xmlns="urn:1"><b xmlns=""><c></c></b></a>'],
    ['has no end of a default namespace that nobody began', '<a xmlns=""/>', '<a></a>'],
    ['escapes text', '<a>&amp;&lt;&gt;&#13;"\'\t</a>', '<a>&amp;&lt;&gt;&#xD;"\'\t</a>'],
    ['escapes attributes', '<a b="&amp;&lt;&gt;&#13;&#10;&#9;&quot;\'"/>', '<a b="&amp;&lt;>&#xD;&#xA;&#x9;&quot;\'"></a>'],
    ['makes lines end in one way', '<a>\r\n\r\n\r</a>', '<a>\n\n\n</a>'],
    ['makes white space of attributes plain', '<a b="\t\r\n"/>', '<a b="  "></a>'],
    ['leaves out the declaration and comments around the root', '<?xml version="1.0"?><!-- a --><a/>\n<!-- b -->\n', '<a></a>'],
  ])('%s', (_, text, expected) => {
    expect(canonical(text)).toBe(expected)
  })
})

function messageOf(text: string): string {
  try {
    readXml(Buffer.from(text))
  } catch (error) {
    if (error instanceof Unreadable) return error.detail
    throw error
  }
  throw new Error('it was read')
}
