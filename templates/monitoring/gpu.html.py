BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXX XXXXXXXXXXXXX X XXX XXXXX
        XXXXXXXX XXXXXXXX XXXXXXXX XX
      XXXXXX
      XX XXXXXXXXXX XXXXXXX
        XXXXXXXXXXXXX
        XXXXXX
          XX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
        XXXXXXX
        XXXXXX
          BB BBBBBBBB
            XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          BBBB
            
          BBBBB
        XXXXXXX
        BBB BBBB BB BBBBB
          XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBBBB
      XXXX
      XXX
        BBB B BB BBBBBBBB
           pgettext(u'name of a value', u'in use by %(owner)s') 
            SS SSS SS SSSSSSSSS
          
          XX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXBB BBB BBBBBBBBBBBBXBBBBB
        BBBBB
          BB BBBBBBBBBBB
            XXXXX XXXXXXXXXXXXXX gettext(u"In use by a job that you can't see.") XXXXXXX
          BBBB BBBBBBBBB BB BBBBBBB
            XXXXX XXXXXXXXXXXXXX gettext(u'Free: no job uses this GPU.') XXXXXXX
          BBBBB
        BBBBBB
      XXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBB BB BBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXX gettext(u"This GPU isn't responding.") XX
       gettext(u'It may have fallen off the bus, or its driver may need a reset. Drain the node, check dmesg for XID errors, and reset or reboot.') 
    XXXXXXXXX
  BBBB BBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXX
            XXXXXXX gettext(u"A bad memory row couldn't be replaced.") XX
       gettext(u'Drain the node, reset the GPU, and ask for a replacement if it happens again.') 
    XXXXXXXXX
  BBBB BBBBBBBBBB
    BBB BBB BB BBBBBBBBBB
      XXXXXXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFXX
        XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'What to do is on the page of its node.') XXXX
      XXXXXXXXX
    BBBBBB
  BBBB BBBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXXX
            XXXXXXX gettext(u'Replaced memory rows wait for a reset.') XX
       gettext(u'The GPU remains usable. Reset it when it is idle.') 
    XXXXXXXXX
  BBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBXXXXXX
    XXXX XXXXXXXXXXXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
        XXX XXXXXXXXXXXXXX
          XXXXXXXXXXXXX
          XXX XXXXXXXXXXX XXXXXXX
            
          XXXXX
          BB BBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Serial number') XXXXX
            XXX XXXXXXXXXXXXX
              
            XXXXX
          BBBBB
          BB BBBBBBB
            XXXX pgettext(u'name of a value', u'PCI address') XXXXX
            XXX XXXXXXXXXXXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBB BB BBB BBBB
            XXXX pgettext(u'name of a value', u'NUMA node') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBB BB BBB BBBB
            XXXX pgettext(u'name of a value', u'Active NVLinks') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Driver') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Compute capability') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBBBBB
            XXXX gettext(u'Reserved on its node') XXXXX
            XXXX
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'MIG layout') XXXXX
          XXXX
            BB BBBBBBB BB BBBB
               pgettext(u'value', u'Full GPU') 
            BBBB
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBB
            BBBBB
          XXXXX
        XXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Jobs') XX
        BBB B BB BBBBBBBB
          XXXX XXXXXXXXXX XXXXXXX XXXXXXX
            XX XXXXXXXXXXXX XXXXXXXXXXXXXXX
               XXXXX XXXXXXXXXXXXXXXXXXXXXX
            XXXX
            XXXXX XXXXXXXXXXXX XXXXXXXXX  pgettext(u'text, monitoring', u'running') XXXXXXX
          XXXXXX
        BBBBBB
        BBB B BB BBBB
          XXXX XXXXXXXXXX XXXXXXX XXXXXXX
            XX XXXXXXXXXXXX XXXXXXXXXXXXXXX
               XXXXX XXXXXXXXXXXXXXXXXXXXXX
            XXXX
            XXXXX XXXXXXXXXXXX XXXXXXXXX FFFXXXXXXX
          XXXXXX
        BBBBBB
        BB BBB BBBBBBBB BBB BBB BBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'No jobs on this GPU that you can see.') XXXX
        BBBBB
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Events') XX
        BB BBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        BBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'No GPU errors reported.') XXXX
        BBBBB
      XXXXXXXXXX
    XXXXXX
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
