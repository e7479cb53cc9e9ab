BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXX XXXXXXX
    XXXXXXX
      XXXX
        BB BBBBBBBBB BBB BBBBBB
          XXX XXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXX pgettext(u'spoken label', u'Select all') XX
          XXXXX
        BBBBB
        XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
        XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Size') XXXXX
        XXX XXXXXXXXXXX XXXXXXXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Download') XXXXXXX
        XXXXX
      XXXXX
    XXXXXXXX
    XXXXXXX
      BBB BBB BB BBBBBBB
        XXX XXXXXXXXXXXXX
          BB BBBBBBBBB BBB BBBBBB
            XXX XXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXX
            XXXXX
          BBBBB
          XXX XXXXXXXXXXXXX
            XX XXXXXXXXXXXXBB BBBBBBBBBBBBB XXXXXXXXXBBBBBX
               XXXXXXXX
              BB BBBBBBBBBBBBB
                XXXXXXX XXXXXXXXXXXXX XX
              BBBB
                XXXXXXX XXXXXXXXXXX XX
              BBBBB
              XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXX
            XXXX
          XXXXX
          XXX XXXXXXXXXX XXXXXX XXXXXXXBB BBB BBBBBBBBBBBBBFFFFBBBBBXXXXX
          XXX XXXXXXXXXXXX
            BB BBBBBBB
              XX XXXXXXXXXX XXXXX XXXXXX
                 XXXXXXX
                 XXXXXXXX
                 XXXXXXX pgettext(u'tooltip', u'Download') X
                 XXXXXXXXXXXX pgettext(u'spoken label', u'Download %(f)s') SSSSSSSS SSSSSXX
                XXXXXXX XXXXXXXXXXXXXXX XX
              XXXX
            BBBBB
          XXXXX
        XXXXX
      BBBBB
        XXXX
          XXX XXXXXXXXXXXXXX gettext(u'No more files.') XXXXX
        XXXXX
      BBBBBB
    XXXXXXXX
  XXXXXXXX
XXXXXX
BB BBBB BB BBBBB
  XXXX XXXXXXXXXXXXX
       XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
    XXXXX XXXXXXXXXXXXXXXXXXXXXX
    BB BBBBB
      XX XXXXXXXXXX XXXXXX XXXXXXXX pgettext(u'button', u'First page') XXXX
    BBBBB
    BB BBBB
      XX XXXXXXXXXX XXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Next') XXXX
    BBBBB
  XXXXXX
BBBBB
BB BBBBBBBBB BBB BBBBBB
  XXXXX XXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXX
    BBBBBBBBBB
    XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXX
    XXXXXXX
    XXXXXXX XXXXXXXXXX XXXXX XXXXXXX
            XXXXXXXXXX pgettext(u'button', u'Delete') X
            XXXXXXXXXXXXXX gettext(u'Delete the selected items? Older versions keep them.') XX pgettext(u'button', u'Delete') XXXXXXXXX
    XXXXXXX XXXXXXXXXX XXXXX XXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXX pgettext(u'spoken label', u'Clear selection') XX
      XXXXXXX XXXXXXXXXXXX XX
    XXXXXXXXX
  XXXXXXX
BBBBB
