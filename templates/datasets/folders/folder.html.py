BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBB BB BBBB BB BBBBB
        XXXX XXXXXXXXXX XXXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBBB
            BB BBBB
              XXXXXXX XXXXXXXXXX XXXXXX
                      XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Rename or move') XXXXXXXXX
            BBBBB
            XXXXXXX XXXXXXXXXX XXXXXX
                    XXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'New folder') XXXXXXXXX
          BBBBB
        XXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBB BBBBBBBBB
        XXXXXXXX XXXXXXX gettext(u'Add the first files') XX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No files yet') XX
           gettext(u'Files appear here when jobs or people with write access add them.') 
        XXXXXXXXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Use it') XX
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'In a job: <code>$MUSTER_WORKSPACE_CODE</code> is the folder') 
            SS S SSSS SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS SS SSS SSSSSS
          
        XXXX
        XXXXXXX XXXXXXXXXXXXXXXXXX XX
        XX XXXXXXXXXXXX XXXXXXX gettext(u'From the command line') XXXX
        XXXXXXX XXXXXXXXXXXXXXXXXXXX XX
        XX XXXXXXXXXXXX XXXXXXX gettext(u'As a network drive (WebDAV), with an access token as the password') XXXX
        XXXXXXX XXXXXXXXXXX XX
      XXXXXXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value, of storage', u'Space used') XXXXX
          XXXX
            FFFF
            BB BBBBBBBBBBBBBBB
              XXXXX XXXXXXXXXXXXXX
                 pgettext(u'value', u'of %(quota)s') 
                  SS SSSSSSSSS
                
              XXXXXXX
            BBBBB
          XXXXX
          BB BBBBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Counted') XXXXX
            XXXX
              FFF
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'Created') XXXXX
          XXXX
            FFF
          XXXXX
          BB BBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Shared with') XXXXX
            XXXX
              BBB BBB BB BBBBBBBBBBB
                XXXXX
                  BB BBBBBBBB
                    
                  BBBB
                    
                  BBBBB
                  BB BBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXX pgettext(u'value', u'can write') XXXXXXXXBBBBB
                XXXXXX
              BBBBBB
            XXXXX
          BBBBB
        XXXXX
      XXXXXXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBB
    BB BBBBBBB BB BBBB BB BBBBB
      XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                     XXXXXXX pgettext(u'heading', u'New folder') X
                     XXXXXXXX pgettext(u'button', u'Create') X
                     XXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
      XXXXXXXXXXXXXXXX
    BBBBB
    BB BBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
    BB BBBBBBB BB BBBB BB BBBBB
      XXXXXXXXX XXXXXXXXXXX
                XXXXXXX pgettext(u'title of a dialog', u'Upload') X
                XXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXXX
    BBBBB
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
