import { mount } from '../shared/mount.tsx'
import { Seal } from '../shared/seal.tsx'

mount(<Seal state="busy" />)
