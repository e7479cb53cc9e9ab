BBBB BBBB
 #

XXXXXXXX XXXXXXXXXXXXXX
  XXXXXXXXX gettext(u'Disable or delete') XXXXXXXXXX
  XXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXX
    BB BBBBBBBBBBBBBBBBBB
      XXX
         gettext(u'A disabled cluster takes no new jobs.') 
        BB BBBB
           ngettext(u'The job running on it continues.', u'The %(n)s jobs running on it continue.', count) 
            SSS SSS SSSSSSS SS SS SSSSSSSSSS
          
            PPP PPPPP PPPP PPPPPPP PP PP PPPPPPPPP
          
        BBBBB
        BB BBBBB
           ngettext(u'One pending job stays in the queue until the cluster is enabled again.', u'%(n)s pending jobs stay in the queue until the cluster is enabled again.', count) 
            SSS SSSSSSS SSS SSSSS SS SSS SSSSS SSSSS SSS SSSSSSS SS SSSSSSS SSSSSS
          
            PPPPP PPPPPPP PPPP PPPP PP PPP PPPPP PPPPP PPP PPPPPPP PP PPPPPPP PPPPPP
          
        BBBBB
      XXXX
      XXXXX XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXXXX gettext(u'Disable %(c)s? No new jobs start on it. Running jobs: %(runs)s, they continue. Pending jobs: %(waits)s, they stay in the queue.') 
              SSSSSSS SSSSSS SS SSS SSSS SSSSS SS SSS SSSSSSS SSSSS SSSSSSSSS SSSS SSSSSSSSS SSSSSSS SSSSS
              SSSSSSSSSS SSSS SSSS SS SSS SSSSSS
            X
            XXXXXXXXXX pgettext(u'button', u'Disable cluster') XX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Disable cluster') XXXXXXXXX
      XXXXXXX
    BBBBB
    XXXXXXXXX
      XXXXXXXXX pgettext(u'heading', u'Delete permanently') XXXXXXXXXX
      XXXXX XXXXXXXXXXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBBBBBBBB
        XX XXXXXXXXXXXXXX
           gettext(u"This also deletes its nodes, its pools and the access of teams to them. A cluster that has run jobs can't be deleted, because their history refers to it.") 
            SSSS SSSS SSSSSSS SSS SSSSSS SSS SSSSS SSS SSS SSSSSS SS SSSSS SS SSSSS S SSSSSSS SSSS SSS SSS SSSS
            SSSSS SS SSSSSSSS SSSSSSS SSSSS SSSSSSS SSSSSS SS SSS
          
        XXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX gettext(u'Type %(c)s to confirm') SSSS SSSSS SS SSSSSSSXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXXX pgettext(u'button', u'Delete permanently') XXXXXXXXX
      XXXXXXX
    XXXXXXXXXX
  XXXXXX
XXXXXXXXXX
