BBBB BBBB
BB BBBBBBBBBB
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Partition') XXXXX
          XXXX pgettext(u'column', u'Nodes') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs free') XXXXX
          XXXX pgettext(u'column', u'By model') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB BBBBB B BB BBBBBBBBBBBBBBBB
          XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXX
            XXX XXXXXXXXXXXXX
              XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXXXXXX
            XXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u"Partitions come from the scheduler. A node can be in several, so they don't add up.") 
  XXXX
BBBB
  XXXXXXXX XXXXXXX pgettext(u'empty list', u'No partitions') XX
     gettext(u"This scheduler doesn't group its nodes. Use pools to group them by label or GPU model.") 
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'button', u'Pools') XXXX
    XXXXXXXXX
  XXXXXXXXXX
BBBBB
