BBBB BBBB
 #

XXXX XXXXXXXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXX XXXXX XXXXBB BBB BBBBBBBBBBB XXXXBBBBBXX
    XXXXXXX
      XXXX
        XXXX pgettext(u'column', u'GPUs') XXXXX
        XXXX pgettext(u'column', u'State') XXXXX
        XXXX pgettext(u'column', u'From and until') XXXXX
        BB BBBBBBBBBBB
          XXXX pgettext(u'column', u'Free now') XXXXX
        BBBB
          XXXX pgettext(u'column', u'Pool') XXXXX
        BBBBB
        XXXX pgettext(u'column', u'Requested by') XXXXX
        XXX XXXXXXXXXXXX pgettext(u'column', u'Requested') XXXXX
        BB BBBBBBBBBBB
          XXXX
            XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
          XXXXX
        BBBBB
      XXXXX
    XXXXXXXX
    XXXXXXX
      BBB BBB BB BBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBBB
    XXXXXXXX
  XXXXXXXX
XXXXXX
