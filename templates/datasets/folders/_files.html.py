BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXX XXXXXXX
    XXXXXXX
      XXXX
        BB BBBBBBBBB
          XXX XXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXX pgettext(u'spoken label', u'Select all') XX
          XXXXX
        BBBBB
        XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
        XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Size') XXXXX
        XXX XXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Modified') XXXXX
        XXX XXXXXXXXXXX XXXXXXXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Download') XXXXXXX
        XXXXX
      XXXXX
    XXXXXXXX
    XXXXXXX
      BBB BBB BB BBBBBBB
        XXX BB BBBBBBBXXXXXXXXXXXXBBBBBX
          BB BBBBBBBBB
            XXX XXXXXXXXXXXXX
              BB BBBBBBBB
                XXXXXX XXXXXXXXXXXXXXX
                       XXXXXXXXXXX
                       XXXXXXXXXXX
                       XXXXXXXX
                       XXXXXXXXXXXXXX
              BBBBB
            XXXXX
          BBBBB
          XXX XXXXXXXXXXXXX
            BB BBBBBBB
              XX XXXXXXXXXXXXBB BBBBBBBB BB BBBBBBBB XXXXXXXXXBBBBBX
                 XXXXXXXX
                BB BBBBBBBB BB BBBBBBBB
                  XXXXXXX XXXXXXXXXXXXX XX
                BBBB
                  XXXXXXX XXXXXXXXXXX XX
                BBBBB
                XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXX
              XXXX
            BBBB
              XXXXX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXX
              BB BBBBBBBB BB BBBBBB
                XXXXX XXXXXXXXXXXX
                      XXXXXXX gettext(u"Jobs follow it; it can't be opened here.") XX pgettext(u'state', u'link') XXXXXXX
              BBBBB
            BBBBB
          XXXXX
          XXX XXXXXXXXXX XXXXXX XXXXXXXBB BBBBBBBB BB BBB BBBBFFFFBBBBBXXXXX
          XXX XXXXXXXXXX XXXXXX XXXXX XXXXXXXXXXXXXXFFFXXXXX
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
          XXX XXXXXXXXXXXXX XXXXXXXXXXXX
            BB BBBBB
               gettext(u'No more files.') 
            BBBB
               gettext(u'This folder is empty.') 
            BBBBB
          XXXXX
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
BB BBBBBBBBB
  XXXXX XXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXX
    BBBBBBBBBB
    XXXXXXX
    XXXXXXX XXXXXXXXXX XXXXX XXXXXXX
            XXXXXXXXX
            XXXXXXXXXXXXXX
            XXXXXXXXXX pgettext(u'button', u'Delete') X
            XXXXXXXXXXXXXX gettext(u'Delete the selected items and everything in them? This cannot be undone.') XX
       pgettext(u'button', u'Delete') 
    XXXXXXXXX
    XXXXXXX XXXXXXXXXX XXXXX XXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXX pgettext(u'spoken label', u'Clear selection') XX
      XXXXXXX XXXXXXXXXXXX XX
    XXXXXXXXX
  XXXXXXX
BBBBB
